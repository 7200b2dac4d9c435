import glob
import json
import os
import tempfile

import numpy as np
import pandas as pd
from PIL import Image

os.makedirs("input", exist_ok=True)
for month in range(1, 4):
    pd.DataFrame({"day": range(1, 6), "kwh": np.arange(5) * month + 0.5}).to_csv(f"input/2026-{month:02}.csv", index=False)
frames = [pd.read_csv(path).assign(month=os.path.basename(path)[:-4]) for path in sorted(glob.glob("input/*.csv"))]
usage = pd.concat(frames, ignore_index=True)
summary = usage.groupby("month")["kwh"].agg(["sum", "mean", "max"])
with tempfile.NamedTemporaryFile("w+", suffix=".json") as f:
    json.dump(summary.to_dict("index"), f)
    f.flush()
    f.seek(0)
    loaded = json.load(f)
bars = np.zeros((20, 30), dtype="uint8")
for at, total in enumerate(summary["sum"]):
    bars[-int(total / summary["sum"].max() * 20) :, at * 10 : at * 10 + 8] = 255
Image.fromarray(bars).save("bars.png")
print(sorted(loaded))
result = summary
