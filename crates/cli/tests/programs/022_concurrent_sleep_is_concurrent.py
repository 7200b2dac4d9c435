import time

started = time.perf_counter()
answers = await asyncio.gather(*(callMCPTool("sleep", {"ms": 100}) for _ in range(10)))
elapsed = time.perf_counter() - started
print("total slept:", sum(a["slept_ms"] for a in answers))
print("ran together:", elapsed < 0.8)
