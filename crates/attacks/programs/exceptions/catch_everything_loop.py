# attack: catch whatever is thrown to stop the program
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import time

end = time.monotonic() + 20
while time.monotonic() < end:
    try:
        while time.monotonic() < end:
            pass
    except BaseException:
        continue
print("PW" + "NED: could not be stopped")
