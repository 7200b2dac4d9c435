cancelled = []


async def long_job():
    try:
        await callMCPTool("sleep", {"ms": 10_000})
    except asyncio.CancelledError:
        cancelled.append("long_job")
        raise


async def bad_job():
    await callMCPTool("sleep", {"ms": 5})
    await callMCPTool("fail", {"message": "no stock"})


messages = []
try:
    async with asyncio.TaskGroup() as group:
        group.create_task(long_job())
        group.create_task(bad_job())
except* ToolError as group_error:
    messages = [str(e) for e in group_error.exceptions]

result = {"errors": messages, "cancelled": cancelled}
