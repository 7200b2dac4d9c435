async def job(name, ms):
    await callMCPTool("sleep", {"ms": ms})
    return name


finished = []
for next_done in asyncio.as_completed([job("slow", 150), job("quick", 1), job("middle", 70)]):
    finished.append(await next_done)
print(" -> ".join(finished))
