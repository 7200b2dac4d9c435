# attack: tasks that swallow their cancellation
# expect: limit:wall_time | limit:cpu_time | error
# forbid: PWNED
# timeout_ms: 700
import time

end = time.monotonic() + 20


async def stubborn():
    while time.monotonic() < end:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            pass


async with asyncio.TaskGroup() as group:
    for _ in range(5):
        group.create_task(stubborn())
    await asyncio.sleep(0.01)
    raise ValueError("cancel them")
