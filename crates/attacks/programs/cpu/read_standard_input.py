# attack: wait for a person to type
# expect: ok | error | limit:wall_time
# forbid: PWNED
# timeout_ms: 700
import sys

try:
    line = input("password? ")
except (EOFError, OSError, RuntimeError):
    line = ""
if line or sys.stdin.read(1):
    print("PW" + "NED: read", line)
