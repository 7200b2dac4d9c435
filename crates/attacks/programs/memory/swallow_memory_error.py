# attack: catch every MemoryError and keep on asking
# expect: ok | limit:memory | limit:wall_time | limit:cpu_time | crash
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 3000
keep = []
refusals = 0
size = 1 << 24
while refusals < 2000 and len(keep) < 100_000:
    try:
        keep.append(bytearray(size))
    except MemoryError:
        refusals += 1
        size = max(64, size // 2)
held = sum(map(len, keep))
keep.clear()
print("PW" + "NED:" if held > 512 << 20 else "refused at", held >> 20, "MiB")
