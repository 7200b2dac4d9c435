import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.pool import ThreadPool

with ThreadPool(3) as pool:
    squares = pool.map(lambda n: n * n, range(5))
    pairs = pool.starmap(divmod, [(7, 2), (9, 4)])
    later = pool.apply_async(sum, ([1, 2, 3],)).get(timeout=5)
    lengths = list(pool.imap(len, ["a", "bb", "ccc"]))

with multiprocessing.Pool(2) as pool:
    absolute = pool.map(abs, [-1, -2, 3])

with ProcessPoolExecutor(max_workers=2) as executor:
    rounded = list(executor.map(round, [1.2, 2.7]))

[squares, pairs, later, lengths, absolute, rounded]
