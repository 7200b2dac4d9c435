# attack: a finally block that never ends
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import time

end = time.monotonic() + 20


def stay():
    try:
        while time.monotonic() < end:
            pass
    finally:
        while time.monotonic() < end:
            try:
                stay()
            finally:
                continue


stay()
print("PW" + "NED: could not be stopped")
