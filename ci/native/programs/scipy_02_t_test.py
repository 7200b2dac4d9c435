import numpy as np
from scipy import stats

rng = np.random.default_rng(11)
control = rng.normal(10.0, 2.0, 60)
variant = rng.normal(11.0, 2.0, 60)
t, p = stats.ttest_ind(control, variant, equal_var=False)
u, p_u = stats.mannwhitneyu(control, variant)
print("significant" if p < 0.05 else "not significant")
result = {"t": round(float(t), 6), "p": round(float(p), 6), "mann_whitney_p": round(float(p_u), 6)}
