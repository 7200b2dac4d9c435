# attack: feed the file helpers what their own checks may miss
# expect: ok
# forbid: CANARY-7f3a
# forbid: OTHER-55d1
# forbid: PWNED
import pathlib


class Shifty(str):
    def __fspath__(self):
        return "@@CANARY@@"

    def startswith(self, *args):
        return True

    def __contains__(self, part):
        return False

    def split(self, *args):
        return ["notes.txt"]


for path in (
    Shifty("notes.txt"), pathlib.Path("@@CANARY@@"), "@@CANARY@@".encode(), "results/../../../../../../../../@@CANARY@@", "servers/../..@@CANARY@@",
    "skills/../../@@OTHER_WORKSPACE@@/other.txt", "workspace/../@@CANARY@@", "file://@@CANARY@@", "@@CANARY@@\0.txt", "/workspace@@CANARY@@", 3, 0, -1, None, ["@@CANARY@@"],
):
    for helper in (read_file, list_directory):
        try:
            answer = helper(path)
        except Exception as error:
            print(type(error).__name__)
        else:
            print(len(str(answer)), str(answer)[:200])
