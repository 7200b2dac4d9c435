# attack: signal the parent and the group (signal 0 only, which harms nobody)
# expect: ok
# forbid: PWNED
import os

for way in (lambda: os.kill(os.getppid(), 0), lambda: os.kill(1, 0), lambda: os.killpg(0, 0), lambda: os.pidfd_open(1)):
    try:
        way()
        print("PW" + "NED: a signal went out")
    except Exception as error:
        print(type(error).__name__)
