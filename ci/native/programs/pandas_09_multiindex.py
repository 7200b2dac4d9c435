import pandas as pd

index = pd.MultiIndex.from_product([["Q1", "Q2"], ["hardware", "software"]], names=["quarter", "line"])
df = pd.DataFrame({"revenue": [10.0, 20.0, 12.0, 26.0], "cost": [7.0, 5.0, 8.0, 6.0]}, index=index)
df["margin"] = (df["revenue"] - df["cost"]) / df["revenue"]
print(df.xs("software", level="line"))
unstacked = df["margin"].unstack("quarter").round(4)
result = {"margins": unstacked, "total": df.groupby(level="quarter")["revenue"].sum()}
