# attack: a match that keeps a mark for each of millions of repeats
# expect: ok | error | limit:memory | limit:wall_time | limit:cpu_time | crash
# forbid: PWNED
# timeout_ms: 3000
# memory_mb: 128
import re

re.match(r"(?:(a)|(b)|(c))*?d", "abc" * 3_000_000)
