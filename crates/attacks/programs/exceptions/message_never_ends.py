# attack: an exception whose text takes for ever
# expect: error | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import time


class Endless(Exception):
    def __str__(self):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            pass
        return "PW" + "NED: the host waited"


raise Endless
