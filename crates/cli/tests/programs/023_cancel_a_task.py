log = []


async def worker():
    try:
        log.append("started")
        await callMCPTool("sleep", {"ms": 60_000})
        log.append("never")
    except asyncio.CancelledError:
        log.append("cancelled")
        raise
    finally:
        log.append("cleaned up")


task = asyncio.create_task(worker())
await asyncio.sleep(0.01)
task.cancel()
try:
    await task
except asyncio.CancelledError:
    log.append("seen outside")
result = log
