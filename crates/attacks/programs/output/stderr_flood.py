# attack: flood the error stream
# expect: limit:output_bytes | limit:wall_time | limit:cpu_time | ok
# forbid: PWNED
# timeout_ms: 3000
import sys

for n in range(400):
    sys.stderr.write("e" * (1 << 20) + ("PW" + "NED" if n == 200 else ""))
