# attack: a raw payload of a hundred megabytes
# expect: ok | error | limit:memory | limit:tool_calls | limit:wall_time | crash
# forbid: PWNED
# timeout_ms: 8000
from wit_world.imports import host

body = '{"name":"echo","arguments":{"value":"' + "x" * 100_000_000 + '"}}'
for kind in ("tool", "call_tool", "call"):
    try:
        host.start_call(kind, body)
        print(len(str(host.wait_any(2_000_000))) < 1000)
    except Exception as error:
        print(type(error).__name__, str(error)[:200])
