# attack: create a file on the host
# expect: ok
# forbid: PWNED
import os
import shutil

folder = os.path.dirname("@@CANARY@@")
with open("mine", "w") as f:
    f.write("mine")
for destination in (f"{folder}/guest-@@NONCE@@", "../guest-@@NONCE@@", "/guest-@@NONCE@@", "/tmp/../guest-@@NONCE@@"):
    for action in (
        lambda: open(destination, "w").write("x"),
        lambda: os.mkdir(destination),
        lambda: shutil.copy("mine", destination),
        lambda: os.rename("mine", destination),
        lambda: os.symlink("mine", destination),
        lambda: write_file(destination, "x"),
    ):
        try:
            action()
            print("PW" + "NED:", destination)
        except Exception as error:
            print(type(error).__name__)
