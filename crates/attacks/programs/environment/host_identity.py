# attack: learn the name, the user and the addresses of the machine
# expect: ok
# forbid: PWNED
import os

harmless = {"", "none", "(none)", "localhost", "localhost.localdomain", "sandbox", "gristmill", "wasi", "wasm", "unknown"}
ways = {
    "node": lambda: __import__("platform").node(),
    "hostname": lambda: __import__("socket").gethostname(),
    "uname": lambda: os.uname().nodename,
    "login": lambda: os.getlogin(),
    "user": lambda: __import__("getpass").getuser(),
    "home": lambda: os.path.expanduser("~") if os.path.expanduser("~") not in ("~", "/", "/workspace") else "",
    "interfaces": lambda: __import__("socket").if_nameindex() or "",
    "cpus": lambda: os.getloadavg() and "load",
}
for name, way in ways.items():
    try:
        value = str(way())
    except BaseException as error:
        print(name, type(error).__name__)
        continue
    print(("PW" + "NED: " if value.lower() not in harmless else "harmless: ") + name, value)
