# attack: print without end
# expect: limit:output_bytes | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 2000
import time

end = time.monotonic() + 20
while time.monotonic() < end:
    print("x" * 1000)
print("PW" + "NED: printed for 20 seconds")
