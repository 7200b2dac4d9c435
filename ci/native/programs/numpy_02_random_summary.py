import numpy as np

rng = np.random.default_rng(42)
sample = rng.normal(loc=100, scale=15, size=10_000)
quantiles = np.percentile(sample, [5, 25, 50, 75, 95])
histogram, edges = np.histogram(sample, bins=8)
print(f"mean {sample.mean():.3f} sd {sample.std(ddof=1):.3f}")
result = {"quantiles": quantiles.round(4), "histogram": histogram, "edges": edges.round(4)}
