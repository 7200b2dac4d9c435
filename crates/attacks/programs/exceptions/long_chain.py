# attack: a hundred thousand exceptions, each the cause of the next
# expect: error | crash | limit:memory | limit:output_bytes | limit:wall_time
# forbid: PWNED
# timeout_ms: 4000
last = None
for n in range(100_000):
    error = ValueError(n)
    error.__cause__ = last
    last = error
raise last
