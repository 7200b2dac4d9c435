import io

import pandas as pd

raw = """id, name ,signup,score
1, Ann ,2026-01-05,7.5
2,Bob,not a date,
3, Cid,2026-02-10,9.0
3, Cid,2026-02-10,9.0
"""
df = pd.read_csv(io.StringIO(raw))
df.columns = df.columns.str.strip()
df["name"] = df["name"].str.strip()
df["signup"] = pd.to_datetime(df["signup"], errors="coerce")
df = df.drop_duplicates().assign(score=lambda d: d["score"].fillna(d["score"].mean()))
print(df.dtypes.astype(str).to_dict())
result = df
