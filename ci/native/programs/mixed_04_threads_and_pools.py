from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd


def describe(seed):
    values = np.random.default_rng(seed).normal(size=500)
    return {"seed": seed, "mean": round(float(values.mean()), 6), "max": round(float(values.max()), 6)}


with ThreadPoolExecutor(max_workers=4) as pool:
    rows = list(pool.map(describe, range(6)))
table = pd.DataFrame(rows).set_index("seed")
print(table)
result = table["mean"].idxmax()
