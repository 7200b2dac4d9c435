# attack: a symbolic link to a folder of the host, used as a step of a path
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

folder, name = os.path.split("@@CANARY@@")
for link, destination in (("root", "/"), ("up", "../../../../../../../.."), ("folder", folder), ("loop", "loop")):
    try:
        os.symlink(destination, link)
    except Exception as error:
        print("symlink", link, type(error).__name__)
    for path in (f"{link}/{name}", f"{link}{folder}/{name}", f"{link}/{link}/{name}", f"{link}/../{name}"):
        try:
            print("PW" + "NED:", path, open(path).read())
        except OSError as error:
            print(path, type(error).__name__)
    try:
        print("PW" + "NED: listed", os.listdir(link))
    except OSError as error:
        print("listdir", type(error).__name__)
