# attack: a pattern that is expensive to compile
# expect: ok | error | limit:memory | limit:wall_time | limit:cpu_time | crash
# forbid: PWNED
# timeout_ms: 2000
# memory_mb: 128
import re

re.compile("|".join(f"(?:{n}x{{1,50}})" for n in range(60_000)))
re.compile("(?:" * 5_000 + "a" + ")" * 5_000)
