# attack: ask for far more than the limit in one piece
# expect: limit:memory
# forbid: PWNED
# memory_mb: 128
block = bytearray(3 << 29)
print("PW" + "NED:", len(block))
