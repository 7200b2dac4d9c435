# attack: a hard link to a file of the host
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

for source in ("@@CANARY@@", "@@OTHER_WORKSPACE@@/other.txt", "/etc/passwd"):
    try:
        os.link(source, "hard")
        print("PW" + "NED:", open("hard").read())
    except Exception as error:
        print(type(error).__name__)
