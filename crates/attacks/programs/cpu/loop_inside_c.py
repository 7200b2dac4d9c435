# attack: one C-level loop that never comes back to the interpreter
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import collections
import itertools

collections.deque(itertools.repeat(None), maxlen=0)
print("PW" + "NED: ran to the end")
