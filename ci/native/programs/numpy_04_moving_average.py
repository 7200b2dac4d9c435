import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

prices = np.array([10, 11, 13, 12, 15, 18, 17, 16, 19, 21, 20, 22], dtype=float)
windows = sliding_window_view(prices, 4)
averages = windows.mean(axis=1)
by_convolution = np.convolve(prices, np.ones(4) / 4, mode="valid")
assert np.allclose(averages, by_convolution)
changes = np.diff(prices) / prices[:-1]
result = {"averages": averages.tolist(), "best_day": int(np.argmax(changes)) + 1, "volatility": round(float(changes.std()), 6)}
