# attack: find the host's folder names anywhere in the interpreter
# expect: ok
# forbid: PWNED
# timeout_ms: 5000
import os
import sys
import sysconfig
import tempfile

parts = {os.path.dirname("@@CANARY@@"), os.path.dirname("@@OTHER_WORKSPACE@@".rstrip("/"))} - {"", "/", "/tmp"}
places = {
    "cwd": os.getcwd(), "argv": sys.argv, "path": sys.path, "executable": sys.executable, "prefix": sys.prefix, "environ": dict(os.environ),
    "temp": tempfile.gettempdir(), "config": sysconfig.get_paths(), "flags": str(sys.flags), "orig_argv": getattr(sys, "orig_argv", ""),
    "modules": [getattr(m, "__file__", "") for m in list(sys.modules.values())], "real": os.path.realpath("."), "absolute": os.path.abspath("x"),
}
try:
    open("missing/file")
except OSError as error:
    places["error"] = repr(error) + str(error.filename)
for name, value in places.items():
    if any(part in str(value) for part in parts):
        print("PW" + "NED:", name)
print(places["cwd"], places["argv"])
