# attack: leave the workspace with chdir, then use relative names
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

folder, name = os.path.split("@@CANARY@@")
for step in (folder, "/", "..", "../..", "../../../../../../../..", "/proc/self/root"):
    try:
        os.chdir(step)
        print("now in", step)
    except Exception as error:
        print(step, type(error).__name__)
    for candidate in (name, "@@CANARY@@".lstrip("/")):
        try:
            print("PW" + "NED:", open(candidate).read())
        except OSError:
            pass
