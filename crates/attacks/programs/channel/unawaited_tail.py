# attack: leave tasks behind that call tools after the program has ended
# expect: ok | error | limit:wall_time | limit:cpu_time
# forbid: PWNED
# twice: yes
# timeout_ms: 1500
import time

end = time.monotonic() + 20


async def later():
    while time.monotonic() < end:
        try:
            await callMCPTool("echo", {"value": "late"})
            await asyncio.sleep(0.01)
        except BaseException:
            pass


for task in asyncio.all_tasks():
    if getattr(task.get_coro(), "__name__", "") == "later":
        print("PW" + "NED: a task outlived its program")
tasks = [asyncio.ensure_future(later()) for _ in range(20)]
callMCPTool("echo", {"value": "never awaited"})
await asyncio.sleep(0)
result = "ended"
