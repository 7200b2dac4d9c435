# attack: a symbolic link in the workspace that points at a file of the host
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

target = "@@CANARY@@"
for number, destination in enumerate((target, "../" * 12 + target.lstrip("/"), target.lstrip("/"), "/proc/self/root" + target)):
    link = f"link{number}"
    try:
        os.symlink(destination, link)
    except Exception as error:
        print("symlink", type(error).__name__)
        continue
    for read in (lambda: open(link).read(), lambda: read_file(link), lambda: os.stat(link).st_size):
        try:
            print("PW" + "NED:", link, read())
        except Exception as error:
            print(link, type(error).__name__)
