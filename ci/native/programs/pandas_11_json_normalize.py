import pandas as pd

data = [
    {"id": 1, "user": {"name": "Ann", "city": "Oslo"}, "items": [{"sku": "a", "n": 2}, {"sku": "b", "n": 1}]},
    {"id": 2, "user": {"name": "Bob", "city": None}, "items": [{"sku": "a", "n": 5}]},
]
items = pd.json_normalize(data, record_path="items", meta=["id", ["user", "name"], ["user", "city"]])
items.columns = [c.replace("user.", "") for c in items.columns]
print(items.groupby("sku")["n"].sum().to_dict())
result = items
