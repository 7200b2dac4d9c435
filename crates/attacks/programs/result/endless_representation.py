# attack: an object whose representation never ends
# expect: ok | error | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 1000
import time


class Endless:
    def __repr__(self):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            pass
        return "PW" + "NED: the host waited"

    __str__ = __repr__


result = {"object": Endless()}
