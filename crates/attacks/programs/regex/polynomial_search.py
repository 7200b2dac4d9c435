# attack: quadratic work on a long line
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import re

print("PW" + "NED:", re.search(r"\s+$", " " * 200_000 + "x"))
