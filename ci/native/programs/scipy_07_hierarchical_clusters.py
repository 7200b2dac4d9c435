import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import ConvexHull
from scipy.spatial.distance import pdist, squareform

points = np.array([[0, 0], [0.2, 0.1], [0.1, 0.3], [5, 5], [5.2, 4.9], [9, 0]])
labels = fcluster(linkage(pdist(points), method="average"), t=2, criterion="distance")
hull = ConvexHull(points)
print(squareform(pdist(points)).max().round(4))
result = {"labels": labels.tolist(), "hull_area": round(hull.volume, 6)}
