import os

import numpy as np

grid = np.arange(24).reshape(2, 3, 4)
np.save("grid.npy", grid)
np.savez_compressed("bundle.npz", grid=grid, mask=grid % 5 == 0)
mapped = np.load("grid.npy", mmap_mode="r")
bundle = np.load("bundle.npz")
print(sorted(os.listdir(".")))
result = {
    "same": bool((mapped == bundle["grid"]).all()),
    "masked": int(bundle["mask"].sum()),
    "sum_by_axis": mapped.sum(axis=(0, 2)).tolist(),
}
