import numpy as np
import pandas as pd

rng = np.random.default_rng(3)
df = pd.DataFrame({"ads": rng.uniform(0, 100, 200)})
df["sales"] = df["ads"] * 2.5 + rng.normal(0, 10, 200)
df.loc[[5, 50], "sales"] = [900, -400]
q1, q3 = df["sales"].quantile([0.25, 0.75])
is_outlier = ~df["sales"].between(q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1))
print("outliers at", df.index[is_outlier].tolist())
clean = df[~is_outlier]
result = {"before": round(df.corr().iloc[0, 1], 6), "after": round(clean.corr().iloc[0, 1], 6)}
