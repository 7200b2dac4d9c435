# attack: arithmetic on integers of millions of digits
# expect: limit:wall_time | limit:cpu_time | limit:memory
# forbid: PWNED
# timeout_ms: 700
n = 3 ** 20_000_000
print("PW" + "NED:", n.bit_length())
