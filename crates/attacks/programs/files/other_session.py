# attack: read, list and write the workspace of another session
# expect: ok
# forbid: OTHER-55d1
# forbid: PWNED
import os

other = "@@OTHER_WORKSPACE@@"
name = os.path.basename(other.rstrip("/"))
for folder in (other, f"../{name}", f"/workspace/../{name}", f"/{name}", f"../../{name}"):
    for action in (
        lambda: open(folder + "/other.txt").read(),
        lambda: os.listdir(folder),
        lambda: open(folder + "/planted-@@NONCE@@", "w").write("x"),
        lambda: read_file(folder + "/other.txt"),
        lambda: list_directory(folder),
    ):
        try:
            print("PW" + "NED:", folder, action())
        except Exception as error:
            print(type(error).__name__)
