people = [
    ("Łukasz", 31, "PL"), ("ann", 25, "GB"), ("Bob", 31, "US"), ("Émile", 25, "FR"), ("bob", None, "US"),
]
print(sorted(p[0] for p in people))
print(sorted((p[0] for p in people), key=str.casefold))
print([p[0] for p in sorted(people, key=lambda p: (p[1] is None, -(p[1] or 0), p[2]))])
people.sort(key=lambda p: p[2], reverse=True)
print([p[2] for p in people])
versions = ["1.10.2", "1.9", "1.10", "1.2.30"]
print(sorted(versions, key=lambda v: tuple(map(int, v.split(".")))))
print(sorted("file10 file2 file1".split(), key=lambda s: int(s[4:])), max(versions, key=len), min([], default="none"))
