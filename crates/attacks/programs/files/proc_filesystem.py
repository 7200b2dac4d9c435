# attack: read the process that runs the sandbox through /proc
# expect: ok
# forbid: SECRET-91bc
# forbid: CANARY-7f3a
# forbid: PWNED
import os

names = ["environ", "cmdline", "maps", "status", "mountinfo", "root@@CANARY@@", "cwd/../x", "fd/3", "mem", "exe"]
for process in ("self", "1", "thread-self", str(os.getpid())):
    for name in names:
        try:
            with open(f"/proc/{process}/{name}", "rb") as f:
                print("PW" + "NED:", process, name, f.read(300))
        except Exception as error:
            print(process, name, type(error).__name__)
