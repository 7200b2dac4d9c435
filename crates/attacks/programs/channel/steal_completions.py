# attack: take finished calls away from the event loop, so that tasks hang
# expect: ok | error | limit:wall_time | crash
# forbid: PWNED
# timeout_ms: 1500
from wit_world.imports import host

task = asyncio.ensure_future(callMCPTool("sleep", {"ms": 10}))
await asyncio.sleep(0)
print("stolen:", str(host.wait_any(500_000))[:200])
print(await asyncio.wait_for(task, 20))
