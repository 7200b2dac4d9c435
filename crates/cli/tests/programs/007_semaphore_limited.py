limit = asyncio.Semaphore(4)
running = 0
peak = 0


async def fetch(customer_id):
    global running, peak
    async with limit:
        running += 1
        peak = max(peak, running)
        try:
            await callMCPTool("sleep", {"ms": 2})
            return await callMCPTool("get_customer", {"customer_id": customer_id})
        finally:
            running -= 1


customers = await asyncio.gather(*(fetch(f"C{k:03d}") for k in range(20)))
gold = [c["name"] for c in customers if c["tier"] == "gold"]
print("gold customers:", ", ".join(gold))
print("at most", peak, "at once")
