# attack: create tasks faster than they can run
# expect: limit:memory | limit:wall_time | limit:cpu_time
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 5000
async def idle():
    await asyncio.Event().wait()


await asyncio.sleep(0)
tasks = [asyncio.create_task(idle()) for _ in range(1_000_000)]
print("PW" + "NED:", len(tasks))
