# attack: cancel every number there is, in case other sessions' calls are among them
# expect: ok | error | limit:wall_time | limit:cpu_time | crash
# forbid: PWNED
# timeout_ms: 3000
from wit_world.imports import host

pending = asyncio.ensure_future(callMCPTool("sleep", {"ms": 50}))
await asyncio.sleep(0)
for ident in range(200_000):
    try:
        host.cancel_call(ident)
    except Exception:
        pass
try:
    print(await asyncio.wait_for(pending, 1))
except Exception as error:
    print(type(error).__name__)
