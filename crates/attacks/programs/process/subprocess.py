# attack: start a program of the host
# expect: ok
# forbid: PWNED
# forbid: CANARY-7f3a
import os

ways = {
    "subprocess": lambda: __import__("subprocess").run(["cat", "@@CANARY@@"], capture_output=True, timeout=5).stdout,
    "shell": lambda: __import__("subprocess").getoutput("cat @@CANARY@@"),
    "system": lambda: os.system("cat @@CANARY@@"),
    "popen": lambda: os.popen("cat @@CANARY@@").read(),
    "posix_spawn": lambda: os.posix_spawn("/bin/cat", ["cat", "@@CANARY@@"], {}),
    "spawnv": lambda: os.spawnv(os.P_WAIT, "/bin/cat", ["cat", "@@CANARY@@"]),
    "pty": lambda: __import__("pty").spawn(["cat", "@@CANARY@@"]),
    "_posixsubprocess": lambda: __import__("_posixsubprocess").fork_exec,
    "webbrowser": lambda: __import__("webbrowser").get("cat %s").open("@@CANARY@@"),
}
for name, way in ways.items():
    try:
        answer = way()
    except Exception as error:
        print(name, type(error).__name__)
    else:
        text = str(answer)
        print(name, ("PW" + "NED: " + text) if "CANARY" + "-" in text or name == "posix_spawn" else "answered nothing")
