# attack: a traceback of a million different lines
# expect: error | limit:memory | limit:output_bytes | limit:wall_time | crash
# forbid: PWNED
# timeout_ms: 5000
import sys

sys.setrecursionlimit(200_000)
names = {}
for n in range(200):
    exec(f"def f{n}(k):\n    return f{(n + 1) % 200}(k - 1) if k else 1 / 0\n", names)
names["f0"](150_000)
