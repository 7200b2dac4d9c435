# attack: start host calls without ever collecting an answer
# expect: ok | error | limit:tool_calls | limit:memory | limit:wall_time | limit:cpu_time | crash
# forbid: PWNED
# timeout_ms: 4000
from wit_world.imports import host

started = 0
for n in range(50_000):
    for kind in ("tool", "call_tool", "call"):
        try:
            host.start_call(kind, json.dumps({"name": "sleep", "tool": "sleep", "server": "test", "arguments": {"ms": 30_000}}))
            started += 1
        except Exception:
            pass
print("started", started)
