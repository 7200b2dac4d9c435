# attack: tasks that only ever yield to each other, so no timer gets its turn
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import time

end = time.monotonic() + 20


async def spin():
    while time.monotonic() < end:
        await asyncio.sleep(0)


await asyncio.gather(*(spin() for _ in range(50)))
print("PW" + "NED: starved")
