# attack: register exit hooks, and look for those of the last program
# expect: limit:wall_time
# forbid: PWNED
# twice: yes
import atexit
import gc
import time

for thing in gc.get_objects():
    if getattr(type(thing), "__name__", "") == "function" and thing.__name__ == "left_exit_hook_5e1":
        print("PW" + "NED: a hook was kept")
        break


def left_exit_hook_5e1():
    end = time.monotonic() + 10
    while time.monotonic() < end:
        pass


atexit.register(left_exit_hook_5e1)
