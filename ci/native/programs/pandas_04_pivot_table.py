import pandas as pd

df = pd.DataFrame(
    {
        "month": ["Jan", "Jan", "Feb", "Feb", "Mar", "Mar"],
        "channel": ["web", "store", "web", "store", "web", "web"],
        "amount": [100, 80, 120, 70, 90, 60],
    }
)
table = df.pivot_table(index="month", columns="channel", values="amount", aggfunc="sum", fill_value=0, margins=True)
print(table)
result = table
