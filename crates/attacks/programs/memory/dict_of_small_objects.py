# attack: millions of small objects instead of a few large ones
# expect: limit:memory | limit:wall_time | limit:cpu_time
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 15000
table = {}
for n in range(5_000_000):
    table[n] = (str(n), [n])
print("PW" + "NED:", len(table))
