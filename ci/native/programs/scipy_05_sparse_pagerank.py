import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

edges = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (3, 0)]
rows, columns = zip(*edges)
graph = csr_matrix((np.ones(len(edges)), (rows, columns)), shape=(4, 4))
out = np.asarray(graph.sum(axis=1)).ravel()
transition = graph.T.multiply(1 / out).tocsr()
rank = np.full(4, 0.25)
for _ in range(100):
    rank = 0.15 / 4 + 0.85 * transition @ rank
print(rank.round(4))
result = {"rank": rank.round(6).tolist(), "hops": shortest_path(graph, unweighted=True)[0].tolist()}
