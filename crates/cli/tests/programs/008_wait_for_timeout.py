async def guarded(ms, timeout):
    try:
        answer = await asyncio.wait_for(callMCPTool("sleep", {"ms": ms}), timeout=timeout)
        return f"slept {answer['slept_ms']} ms"
    except asyncio.TimeoutError:
        return f"gave up on {ms} ms"


result = {
    "quick": await guarded(1, 5),
    "slow": await guarded(5000, 0.02),
}
