# attack: one line of hundreds of megabytes
# expect: ok | limit:output_bytes | limit:memory | limit:wall_time
# forbid: PWNED
# timeout_ms: 5000
chunk = "y" * (1 << 20)
for n in range(600):
    print(chunk, end="PW" + "NED" if n == 300 else "")
