# attack: replace the running program
# expect: ok | crash
# forbid: PWNED
# forbid: CANARY-7f3a
import os

for name in ("execv", "execve", "execvp"):
    try:
        arguments = ["/bin/echo", ["echo", "PW" + "NED"]]
        getattr(os, name)(*arguments, *([{}] if name == "execve" else []))
    except Exception as error:
        print(name, type(error).__name__)
