# attack: change the stored results, the tool stubs and the skills from inside
# expect: ok
# forbid: PWNED
import os

for folder in ("/results", "/servers", "/servers/shop", "/skills", "results", "servers", "skills"):
    for action in (
        lambda: open(f"{folder}/planted-@@NONCE@@.py", "w").write("x"),
        lambda: open(f"{folder}/index.md", "r+").write("x"),
        lambda: os.rename(folder, folder + "-gone"),
        lambda: os.symlink("@@CANARY@@", f"{folder}/link.json"),
    ):
        if not os.path.isdir(folder):
            continue
        if folder in ("results", "servers", "skills") and os.path.realpath(folder).startswith("/workspace/"):
            continue
        try:
            action()
            print("PW" + "NED:", folder)
        except Exception as error:
            print(folder, type(error).__name__)
