# attack: lift the recursion limit, then recurse without end
# expect: error | limit:memory | limit:wall_time | limit:cpu_time | crash
# forbid: PWNED
# timeout_ms: 5000
# memory_mb: 128
import sys

sys.setrecursionlimit(10**7)


def down(n):
    return down(n + 1) + 1 if n < 5_000_000 else 0


print("PW" + "NED:", down(0))
