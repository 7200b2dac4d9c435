import numpy as np
from scipy.interpolate import CubicSpline, RegularGridInterpolator, griddata

x = np.array([0, 1, 2, 3, 4])
spline = CubicSpline(x, x**3)
grid = RegularGridInterpolator((x, x), np.add.outer(x, 10 * x))
scattered = griddata(np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), np.array([0, 1, 1, 2]), [[0.5, 0.5]])
result = {"spline": float(spline(2.5)), "slope": float(spline(2, 1)), "grid": grid([[1.5, 2.5]]).tolist(), "scattered": scattered.tolist()}
