from collections import deque
from math import sqrt


def window(values, size):
    recent = deque(maxlen=size)
    for value in values:
        recent.append(value)
        if len(recent) == size:
            yield list(recent)


series = [10, 12, 11, 15, 40, 14, 13, 12, 11, 13]
print("mean  ", [round(sum(w) / len(w), 2) for w in window(series, 3)])
mean = sum(series) / len(series)
sd = sqrt(sum((x - mean) ** 2 for x in series) / len(series))
for i, x in enumerate(series):
    z = (x - mean) / sd
    print(f"{i} {x:>3} {z:>+6.2f}{'  <-- anomaly' if abs(z) > 2 else ''}")
ewma = []
for x in series:
    ewma.append(x if not ewma else 0.5 * x + 0.5 * ewma[-1])
print("ewma  ", ewma[:5])
