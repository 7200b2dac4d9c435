import pandas as pd

customers = pd.DataFrame({"customer_id": [1, 2, 3, 4], "name": ["Ann", "Bob", "Cid", "Dee"]})
orders = pd.DataFrame({"order_id": [100, 101, 102, 103], "customer_id": [1, 1, 3, 9], "total": [20.0, 35.5, 12.25, 99.0]})
merged = customers.merge(orders, on="customer_id", how="outer", indicator=True)
print(merged["_merge"].value_counts().sort_index().to_string())
spent = merged.groupby("name")["total"].sum()
result = {"spent": spent.to_dict(), "without_orders": merged.loc[merged["_merge"] == "left_only", "name"].tolist()}
