import numpy as np
from scipy.signal import butter, filtfilt, find_peaks

t = np.linspace(0, 1, 500, endpoint=False)
noisy = np.sin(2 * np.pi * 5 * t) + 0.4 * np.sin(2 * np.pi * 60 * t)
b, a = butter(4, 15, fs=500)
smooth = filtfilt(b, a, noisy)
peaks, properties = find_peaks(smooth, height=0.5)
print(len(peaks), "peaks")
result = {"at": t[peaks].round(3).tolist(), "residual": round(float(np.abs(smooth - np.sin(2 * np.pi * 5 * t)).max()), 4)}
