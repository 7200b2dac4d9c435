# attack: exponential backtracking in one match
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import re

print("PW" + "NED:", re.match(r"(a+)+$", "a" * 30 + "!"))
