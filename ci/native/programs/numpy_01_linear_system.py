import numpy as np

A = np.array([[4.0, -2.0, 1.0], [-2.0, 4.0, -2.0], [1.0, -2.0, 4.0]])
b = np.array([11.0, -16.0, 17.0])
x = np.linalg.solve(A, b)
print("solution:", np.round(x, 6))
assert np.allclose(A @ x, b)
result = {"x": x.round(9).tolist(), "det": round(float(np.linalg.det(A)), 9), "rank": int(np.linalg.matrix_rank(A))}
