import numpy as np
import pandas as pd

index = pd.date_range("2026-01-01", periods=90, freq="D")
values = pd.Series(np.arange(90) % 7 + 1, index=index, name="visits")
weekly = values.resample("W").sum()
monthly = values.resample("MS").mean().round(3)
print(weekly.head(3))
result = {"weekly_max": int(weekly.max()), "monthly": {str(k.date()): v for k, v in monthly.items()}}
