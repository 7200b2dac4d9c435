import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

digits = load_digits()
pca = PCA(n_components=10, svd_solver="full").fit(digits.data)
kept = np.cumsum(pca.explained_variance_ratio_)
print("90% needs more than 10" if kept[-1] < 0.9 else "10 are enough")
restored = pca.inverse_transform(pca.transform(digits.data))
result = {"kept": kept.round(5), "error": round(float(((restored - digits.data) ** 2).mean()), 4)}
