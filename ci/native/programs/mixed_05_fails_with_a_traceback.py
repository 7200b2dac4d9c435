import pandas as pd


def total(frame):
    return frame["prise"].sum()


orders = pd.DataFrame({"price": [1, 2, 3]})
print("adding up")
result = total(orders)
