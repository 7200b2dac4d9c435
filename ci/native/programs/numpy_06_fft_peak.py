import numpy as np

rate = 1000
t = np.arange(0, 1, 1 / rate)
signal = np.sin(2 * np.pi * 50 * t) + 0.5 * np.sin(2 * np.pi * 120 * t)
spectrum = np.abs(np.fft.rfft(signal))
frequencies = np.fft.rfftfreq(len(signal), 1 / rate)
peaks = frequencies[np.argsort(spectrum)[-2:]]
print("peaks at", sorted(peaks.tolist()))
result = sorted(float(p) for p in peaks)
