import pandas as pd

ages = pd.DataFrame({"age": [5, 17, 18, 34, 35, 64, 65, 90]})
ages["group"] = pd.cut(ages["age"], bins=[0, 17, 34, 64, 120], labels=["child", "young", "adult", "senior"])
ages["quartile"] = pd.qcut(ages["age"], 4, labels=False)
counts = ages.groupby("group", observed=False).size()
print(counts.to_string())
result = ages
