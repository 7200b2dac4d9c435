# attack: as many writes as possible, each of nothing or one character
# expect: ok | limit:output_bytes | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 3000
import os
import sys

for n in range(300_000):
    sys.stdout.write("" if n % 2 else ".")
    sys.stdout.flush()
    if n % 3 == 0:
        os.write(1, b"")
