# attack: swap a plain file for a link while it is being opened
# expect: ok | error | limit:wall_time
# forbid: CANARY-7f3a
# forbid: PWNED
# timeout_ms: 3000
import os
import time

with open("plain", "w") as f:
    f.write("harmless")
end = time.monotonic() + 0.5
while time.monotonic() < end:
    for make in (lambda: os.symlink("@@CANARY@@", "turn"), lambda: os.link("plain", "turn")):
        try:
            make()
            os.replace("turn", "race.txt")
        except Exception:
            pass
        try:
            text = open("race.txt").read()
            if text != "harmless":
                print("PW" + "NED:", text)
        except OSError:
            pass
print("raced")
