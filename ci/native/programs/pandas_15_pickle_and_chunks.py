import pandas as pd

df = pd.DataFrame({"key": [i % 5 for i in range(10_000)], "value": range(10_000)})
df.to_csv("large.csv", index=False)
totals = pd.Series(dtype="int64")
for chunk in pd.read_csv("large.csv", chunksize=1500):
    totals = totals.add(chunk.groupby("key")["value"].sum(), fill_value=0)
df.to_pickle("large.pkl")
assert pd.read_pickle("large.pkl").equals(df)
result = totals.astype(int).to_dict()
