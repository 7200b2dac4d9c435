# attack: a result nested a million levels deep
# expect: limit:result_depth
# forbid: PWNED
# timeout_ms: 5000
result = []
for _ in range(1_000_000):
    result = [result]
