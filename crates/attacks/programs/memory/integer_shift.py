# attack: one shift makes an integer of a gigabyte
# expect: limit:memory | error
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 5000
number = 1 << (8 << 30)
print("PW" + "NED:", number.bit_length())
