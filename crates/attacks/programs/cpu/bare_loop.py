# attack: loop for ever
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import time

end = time.monotonic() + 20
while time.monotonic() < end:
    pass
print("PW" + "NED: ran to the end")
