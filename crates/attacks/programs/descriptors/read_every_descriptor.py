# attack: read from every descriptor, hoping for what was meant for the host
# expect: ok | error | crash | limit:wall_time
# forbid: SECRET-91bc
# forbid: CANARY-7f3a
# timeout_ms: 1500
import os

for fd in [*range(3, 64), 0, 1, 2]:
    for way in (lambda: os.read(fd, 4096), lambda: os.pread(fd, 4096, 0), lambda: os.fstat(fd).st_ino, lambda: os.listdir(fd)):
        try:
            print(fd, way())
        except (OSError, AttributeError, TypeError):
            pass
