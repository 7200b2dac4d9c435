# attack: swallow the interruption around a hopeless match, and start again
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import re

for _ in range(3):
    try:
        re.match(r"([a-z]+)*\d", "x" * 29)
    except BaseException:
        pass
print("PW" + "NED: outlived it")
