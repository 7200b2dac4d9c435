# attack: close standard output and error, then print and fail
# expect: ok | error | crash
# forbid: PWNED
import os
import sys

print("before")
for fd in (0, 1, 2):
    try:
        os.close(fd)
    except OSError:
        pass
print("after")
sys.stdout.flush()
sys.stderr.write("after too\n")
