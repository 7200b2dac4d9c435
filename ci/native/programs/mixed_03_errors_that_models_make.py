import numpy as np
import pandas as pd

seen = []
df = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
for attempt in (
    lambda: df["c"],
    lambda: np.zeros((2, 3)) @ np.zeros((2, 3)),
    lambda: pd.to_datetime("32 Foo 2026"),
    lambda: pd.DataFrame({"a": [1, 2], "b": [1]}),
    lambda: np.linalg.inv(np.zeros((2, 2))),
    lambda: df.astype({"b": int}),
    lambda: pd.read_csv("no such file.csv"),
):
    try:
        attempt()
    except Exception as error:
        seen.append(f"{type(error).__name__}: {error}")
print("\n".join(seen))
result = len(seen)
