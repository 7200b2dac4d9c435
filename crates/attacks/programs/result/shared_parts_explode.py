# attack: a small object that becomes enormous once it is written out
# expect: limit:result_bytes | limit:result_depth | limit:memory | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 5000
result = ["x" * 10]
for _ in range(30):
    result = [result, result]
