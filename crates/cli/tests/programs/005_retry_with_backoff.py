attempts = []


async def flaky(n):
    attempts.append(n)
    if n < 3:
        await callMCPTool("fail", {"message": f"attempt {n} refused"})
    return await callMCPTool("echo", {"value": f"attempt {n} worked"})


async def with_retries(make, tries=5, delay=0.001):
    for n in range(1, tries + 1):
        try:
            return await make(n)
        except ToolError as error:
            print("retrying after:", error)
            await asyncio.sleep(delay * 2**n)
    raise RuntimeError("gave up")


answer = await with_retries(flaky)
print(answer["value"])
print("attempts:", attempts)
