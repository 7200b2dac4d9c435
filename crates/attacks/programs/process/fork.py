# attack: split the process
# expect: ok
# forbid: PWNED
import os

for name in ("fork", "forkpty", "vfork"):
    try:
        pid = getattr(os, name)()
        if isinstance(pid, tuple):
            pid = pid[0]
        if pid == 0:
            os._exit(0)
        print("PW" + "NED:", name)
    except Exception as error:
        print(name, type(error).__name__)
