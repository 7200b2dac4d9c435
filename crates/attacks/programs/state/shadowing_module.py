# attack: put a json.py into the workspace and run again, so that the runner itself imports it
# expect: ok
# forbid: PWNED
import importlib
import sys

for name in ("json", "asyncio", "re", "traceback", "linecache", "decimal", "encodings"):
    with open(f"{name}.py", "w") as f:
        f.write("print('PW' + 'NED: shadowed')\n")
importlib.invalidate_caches()
for name in ("traceback", "linecache", "decimal"):
    sys.modules.pop(name, None)
try:
    1 / 0
except ZeroDivisionError:
    pass
result = {"n": 1}
