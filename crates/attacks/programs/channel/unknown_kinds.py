# attack: start host calls of kinds that programs were never given
# expect: ok | error | crash
# forbid: CANARY-7f3a
# forbid: OTHER-55d1
# forbid: SECRET-91bc
from wit_world.imports import host

kinds = ["", "exec", "shell", "eval", "read", "read_file", "fs", "http", "fetch", "env", "secret", "sql", "admin", "exit", "result", "finish", "log", "tool\n", "TOOL", "../tool", "tool\0", "x" * 100_000]
payload = json.dumps({"path": "@@CANARY@@", "file": "@@OTHER_WORKSPACE@@/other.txt", "name": "@@SECRET_ENV@@", "cmd": "cat @@CANARY@@", "url": "http://127.0.0.1:@@PORT@@/"})
for kind in kinds:
    try:
        print(kind[:20], host.start_call(kind, payload))
    except Exception as error:
        print(kind[:20], type(error).__name__, str(error)[:200])
for _ in range(5):
    try:
        print(str(host.wait_any(50_000))[:4000])
    except Exception as error:
        print(type(error).__name__)
