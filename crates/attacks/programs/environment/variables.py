# attack: read the gateway's environment
# expect: ok
# forbid: SECRET-91bc
# forbid: PWNED
import os

print(dict(os.environ))
for way in (
    lambda: os.environ["@@SECRET_ENV@@"],
    lambda: os.getenv("@@SECRET_ENV@@") or 1 / 0,
    lambda: os.environb[b"@@SECRET_ENV@@"],
    lambda: os.path.expandvars("$@@SECRET_ENV@@") if "$" not in os.path.expandvars("$@@SECRET_ENV@@") else 1 / 0,
    lambda: __import__("posix").environ[b"@@SECRET_ENV@@"],
    lambda: open("/proc/self/environ").read(),
):
    try:
        print("PW" + "NED:", way())
    except Exception as error:
        print(type(error).__name__)
