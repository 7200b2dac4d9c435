import numpy as np

counts = np.memmap("counts.dat", dtype="int32", mode="w+", shape=(100, 10))
counts[:] = np.arange(1000).reshape(100, 10)
counts[::7] = -1
counts.flush()
del counts
again = np.memmap("counts.dat", dtype="int32", mode="r", shape=(100, 10))
result = {"negative_rows": int((again == -1).all(axis=1).sum()), "total": int(again.sum())}
