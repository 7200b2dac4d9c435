import numpy as np
import pandas as pd

df = pd.DataFrame(
    {
        "when": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
        "int": pd.array([1, None, 3], dtype="Int64"),
        "flag": pd.array([True, None, False], dtype="boolean"),
        "text": ["a", None, "c"],
        "float": [1.5, np.nan, np.inf],
    }
)
print(df.isna().sum().to_dict())
result = df
