# attack: an error message of a hundred megabytes
# expect: error | limit:output_bytes | limit:memory | limit:result_bytes
# forbid: PWNED
# timeout_ms: 5000
raise ValueError("m" * 50_000_000 + "PW" + "NED: all of it was kept" + "m" * 50_000_000)
