async def source(name, ms, value):
    await callMCPTool("sleep", {"ms": ms})
    return name, (await callMCPTool("echo", {"value": value}))["value"]


tasks = [
    asyncio.create_task(source("primary", 5000, "late")),
    asyncio.create_task(source("mirror", 1, "in time")),
]
done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
for task in pending:
    task.cancel()
await asyncio.gather(*pending, return_exceptions=True)
winner, value = done.pop().result()
result = {"winner": winner, "value": value, "cancelled": sum(t.cancelled() for t in pending)}
