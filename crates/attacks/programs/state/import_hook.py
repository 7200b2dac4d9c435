# attack: stay in the import machinery
# expect: ok
# forbid: PWNED
# twice: yes
import builtins
import sys


class LeftHook:
    def find_spec(self, name, path=None, target=None):
        return None


for hook in [*sys.meta_path, *sys.path_hooks]:
    if type(hook).__name__ == "LeftHook":
        print("PW" + "NED: hook kept")
if "/workspace/left" in sys.path:
    print("PW" + "NED: path kept")
sys.meta_path.insert(0, LeftHook())
sys.path.insert(0, "/workspace/left")
