# attack: a chain of a hundred thousand generators
# expect: ok | error | crash | limit:memory | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 5000
def wrap(inner):
    yield from inner


chain = iter([1])
for _ in range(100_000):
    chain = wrap(chain)
print(list(chain))
