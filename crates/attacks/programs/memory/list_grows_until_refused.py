# attack: keep every object alive until memory runs out
# expect: limit:memory
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 10000
keep = []
for megabyte in range(1024):
    keep.append(bytearray(1 << 20))
print("PW" + "NED: held", len(keep), "MiB")
