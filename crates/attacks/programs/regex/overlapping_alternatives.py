# attack: alternatives that match the same text in many ways
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import re

print("PW" + "NED:", re.match(r"(?:a|aa)+$", "a" * 60 + "b"))
