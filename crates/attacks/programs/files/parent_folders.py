# attack: climb out of the workspace with ..
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

target = "@@CANARY@@".lstrip("/")
os.makedirs("a/b", exist_ok=True)
for depth in range(1, 14):
    for start in ("", "./", "a/b/../../", "/workspace/", "/workspace/a/../", "/tmp/"):
        try:
            text = open(start + "../" * depth + target).read()
            print("PW" + "NED:", start, depth, text)
        except OSError:
            pass
    try:
        text = read_file("../" * depth + target)
        print("PW" + "NED: helper", depth, text)
    except Exception:
        pass
