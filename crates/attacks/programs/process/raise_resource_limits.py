# attack: lift the limits, lower the priority of others
# expect: ok
# forbid: PWNED
import os

ways = {
    "rlimit": lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_AS, (-1, -1)),
    "nice": lambda: os.nice(-20),
    "setuid": lambda: os.setuid(0),
    "affinity": lambda: os.sched_setaffinity(0, range(64)),
    "unshare": lambda: os.unshare(0x10000000),
    "setns": lambda: os.setns(3, 0),
    "memfd": lambda: os.memfd_create("x"),
}
for name, way in ways.items():
    try:
        way()
        print("PW" + "NED:", name)
    except Exception as error:
        print(name, type(error).__name__)
