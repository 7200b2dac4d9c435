import csv
import gzip
import io
import sys

rows = [{"name": "a", "price": 3_000_000_000}, {"name": "b", "price": 2_500_000_000}]
cheapest, best = None, sys.maxsize
for row in rows:
    if row["price"] < best:
        cheapest, best = row["name"], row["price"]

csv.field_size_limit(sys.maxsize)
packed = io.BytesIO(gzip.compress(b"x,y\n1,2\n" * 1000))
lines = list(csv.reader(io.TextIOWrapper(gzip.GzipFile(fileobj=packed))))

print(cheapest, best, sys.maxsize == 2**63 - 1, len(lines))
print(next(iter(range(sys.maxsize))), [1, 2, 3][: sys.maxsize], -sys.maxsize - 1)
