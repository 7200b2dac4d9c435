# attack: leave a file in /tmp for another session
# expect: ok
# forbid: PWNED
# twice: yes
import os
import tempfile

paths = sorted({os.path.join(folder, "left-behind.txt") for folder in ("/tmp", "/var/tmp", "/dev/shm", "/", tempfile.gettempdir())})
for path in paths:
    try:
        print("PW" + "NED:", open(path).read())
    except OSError:
        pass
for path in paths:
    try:
        with open(path, "w") as f:
            f.write("left by the last program")
    except OSError:
        pass
