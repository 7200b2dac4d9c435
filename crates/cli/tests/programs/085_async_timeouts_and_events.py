import asyncio

log = []


async def waiter(event, name):
    await event.wait()
    log.append(name)


async def main():
    event = asyncio.Event()
    tasks = [asyncio.create_task(waiter(event, n)) for n in ("one", "two")]
    await asyncio.sleep(0)
    log.append("set")
    event.set()
    await asyncio.gather(*tasks)
    try:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()
    except TimeoutError:
        log.append("timed out")
    lock = asyncio.Lock()
    async with lock:
        log.append(lock.locked())
    shielded = asyncio.shield(asyncio.sleep(0.001, "kept"))
    log.append(await shielded)
    return log


asyncio.run(main())
