# attack: catch each RecursionError and recurse again from there
# expect: ok | error | limit:wall_time | limit:cpu_time | limit:memory | crash
# forbid: PWNED
# timeout_ms: 1500
import time

end = time.monotonic() + 10


def down(n=0):
    try:
        down(n + 1)
    except RecursionError:
        for _ in range(3 if time.monotonic() < end else 0):
            try:
                down(n + 1)
            except RecursionError:
                pass


down()
