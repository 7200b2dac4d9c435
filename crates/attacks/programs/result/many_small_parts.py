# attack: a result of millions of small parts
# expect: limit:result_bytes | limit:memory | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 8000
result = [{"n": n} for n in range(1_500_000)]
