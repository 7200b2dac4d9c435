# attack: block in time.sleep, where no instruction is executed
# expect: limit:wall_time
# forbid: PWNED
# timeout_ms: 700
import time

time.sleep(20)
print("PW" + "NED: slept")
