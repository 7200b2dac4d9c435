import os

import pandas as pd

df = pd.DataFrame({"n": range(1000), "square": [n * n for n in range(1000)]})
for name in ("squares.csv", "squares.csv.gz", "squares.csv.bz2", "squares.csv.xz", "squares.csv.zip"):
    df.to_csv(name, index=False)
    assert pd.read_csv(name).equals(df), name
print("smaller:", os.path.getsize("squares.csv.gz") < os.path.getsize("squares.csv"))
result = sorted(os.listdir("."))
