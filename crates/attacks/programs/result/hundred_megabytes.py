# attack: a result of a hundred megabytes
# expect: limit:result_bytes | limit:memory
# forbid: PWNED
# timeout_ms: 8000
result = "r" * 50_000_000 + "PW" + "NED" + "r" * 50_000_000
