# attack: lift the digit limit and convert a huge integer to text
# expect: limit:wall_time | limit:cpu_time | limit:memory | error
# forbid: PWNED
# timeout_ms: 700
import sys

sys.set_int_max_str_digits(0)
text = str((1 << 100_000_000) + 1)
print("PW" + "NED:", len(text))
