import numpy as np
from scipy.optimize import linprog, minimize, rosen, rosen_der

best = minimize(rosen, x0=np.array([1.3, 0.7, 0.8, 1.9]), jac=rosen_der, method="BFGS", options={"gtol": 1e-8})
print(best.message)
plan = linprog(c=[-30, -50], A_ub=[[1, 2], [3, 2]], b_ub=[40, 60], bounds=[(0, None), (0, None)])
result = {"x": best.x.round(4).tolist(), "plan": plan.x.round(6).tolist(), "profit": round(-plan.fun, 6)}
