# attack: climb from an open folder with the *at calls
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

target = "@@CANARY@@".lstrip("/")
handles = list(range(3, 20))
try:
    handles.append(os.open(".", os.O_RDONLY))
except OSError as error:
    print(type(error).__name__)
for handle in handles:
    for path in ("../" * 10 + target, target, "/" + target, "./../" * 10 + target):
        try:
            fd = os.open(path, os.O_RDONLY, dir_fd=handle)
            print("PW" + "NED:", handle, os.read(fd, 200))
        except Exception:
            pass
    try:
        os.fchdir(handle)
        print("PW" + "NED:", open("../" * 10 + target).read())
    except Exception:
        pass
print("done")
