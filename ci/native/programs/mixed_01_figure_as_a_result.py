import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 10, 100)
fig, ax = plt.subplots(figsize=(4, 3))
ax.plot(x, np.sin(x), label="sin")
ax.set_title("Waves")
ax.legend()
fig.savefig("waves.png", dpi=80)
print(plt.imread("waves.png").shape)
result = len(ax.lines)
