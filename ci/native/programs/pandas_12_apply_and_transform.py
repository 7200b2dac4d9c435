import pandas as pd

df = pd.DataFrame({"team": list("aabbbc"), "points": [3, 7, 2, 8, 5, 4]})
df["share"] = df["points"] / df.groupby("team")["points"].transform("sum")
df["rank"] = df.groupby("team")["points"].rank(ascending=False).astype(int)
top = df.loc[df.groupby("team")["points"].idxmax()]
result = top.round({"share": 4}).reset_index(drop=True)
