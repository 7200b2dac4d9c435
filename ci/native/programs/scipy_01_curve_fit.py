import numpy as np
from scipy.optimize import curve_fit


def decay(t, amplitude, rate, offset):
    return amplitude * np.exp(-rate * t) + offset


rng = np.random.default_rng(1)
t = np.linspace(0, 4, 50)
y = decay(t, 2.5, 1.3, 0.5) + rng.normal(0, 0.02, t.size)
parameters, covariance = curve_fit(decay, t, y, p0=(1, 1, 0))
errors = np.sqrt(np.diag(covariance))
for name, value, error in zip(("amplitude", "rate", "offset"), parameters, errors):
    print(f"{name}: {value:.3f} +/- {error:.3f}")
result = parameters.round(5).tolist()
