# attack: a chain of links of which each alone looks harmless
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

try:
    os.makedirs("a/b/c")
    os.symlink("b/c", "a/down")
    os.symlink("down/../../..", "a/up")
    for n in range(1, 12):
        os.symlink("a/up" if n == 1 else f"up{n - 1}/..", f"up{n}")
except Exception as error:
    print("refused", type(error).__name__)
for n in range(1, 12):
    try:
        print("PW" + "NED:", open(f"up{n}/" + "@@CANARY@@".lstrip("/")).read())
    except OSError:
        pass
