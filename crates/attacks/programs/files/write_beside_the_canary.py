# attack: create a file on the host
# expect: ok
# forbid: PWNED
import os
import shutil

# The canary's folder may be named like one of the program's own (a clone under /tmp), where it may
# write as it likes: there the runner decides, by what it finds on the host.
beside = os.path.dirname("@@CANARY@@") + "/guest-@@NONCE@@"
with open("mine", "w") as f:
    f.write("mine")
for destination in (beside, "../guest-@@NONCE@@", "/guest-@@NONCE@@", "/tmp/../guest-@@NONCE@@"):
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
            print("made" if destination == beside else "PW" + "NED:", destination)
        except Exception as error:
            print(type(error).__name__)
