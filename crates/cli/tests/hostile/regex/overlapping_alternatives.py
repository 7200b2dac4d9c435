# attack: alternatives that match the same text in many ways
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import re

print("PW" + "NED:", re.fullmatch(r"(\w|\d|[a-z0-9])*#", "a1" * 12))
