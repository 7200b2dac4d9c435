import pandas as pd

sales = pd.DataFrame(
    {
        "region": ["North", "South", "North", "West", "South", "West", "North"],
        "product": ["A", "A", "B", "B", "B", "A", "A"],
        "units": [10, 5, 8, 12, 7, 3, 6],
        "price": [2.5, 2.5, 4.0, 4.0, 4.0, 2.5, 2.5],
    }
)
sales["revenue"] = sales["units"] * sales["price"]
report = sales.groupby("region", as_index=False).agg(units=("units", "sum"), revenue=("revenue", "sum"))
print(report.to_string(index=False))
result = report.sort_values("revenue", ascending=False)
