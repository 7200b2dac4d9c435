# attack: run out of memory, and again while handling it
# expect: limit:memory | error | crash
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 8000
keep = []


def fill(size):
    while len(keep) < 2_000_000:
        keep.append(bytearray(size))


try:
    fill(1 << 22)
except MemoryError:
    try:
        fill(1 << 14)
    except MemoryError:
        try:
            fill(64)
        finally:
            fill(1)
