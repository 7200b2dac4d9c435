import numpy as np

rng = np.random.default_rng(7)
M = rng.random((6, 6))
symmetric = (M + M.T) / 2
values, vectors = np.linalg.eigh(symmetric)
assert np.allclose(vectors @ np.diag(values) @ vectors.T, symmetric)
U, s, Vt = np.linalg.svd(M)
print("condition number", round(s[0] / s[-1], 6))
result = {"eigenvalues": values.round(8), "singular": s.round(8), "orthogonal": bool(np.allclose(U @ U.T, np.eye(6)))}
