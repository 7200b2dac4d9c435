import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

X, _ = make_blobs(n_samples=150, centers=3, cluster_std=0.6, random_state=5)
scores = {}
for k in range(2, 6):
    labels = KMeans(n_clusters=k, n_init=10, random_state=0).fit_predict(X)
    scores[k] = round(float(silhouette_score(X, labels)), 4)
best = max(scores, key=scores.get)
print("best k:", best)
sizes = np.bincount(KMeans(n_clusters=best, n_init=10, random_state=0).fit_predict(X))
result = {"scores": scores, "sizes": sorted(sizes.tolist())}
