# attack: objects whose destructors run when the program is already over
# expect: ok | limit:wall_time | limit:cpu_time
# forbid: PWNED
# twice: yes
# timeout_ms: 1500
import gc
import time


class LeftObject77:
    def __init__(self):
        self.me = self

    def __del__(self, monotonic=time.monotonic):
        end = monotonic() + 10
        while monotonic() < end:
            pass


if any(type(thing).__name__ == "LeftObject77" for thing in gc.get_objects()):
    print("PW" + "NED: an object of the last program")
keep = [LeftObject77() for _ in range(3)]
