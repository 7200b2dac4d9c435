async def producer(queue):
    page = await callMCPTool("list_orders", {"page": 1, "page_size": 12})
    for order in page["orders"]:
        await queue.put(order["customer_id"])
    for _ in range(3):
        await queue.put(None)


async def consumer(queue, seen):
    while (customer_id := await queue.get()) is not None:
        customer = await callMCPTool("get_customer", {"customer_id": customer_id})
        seen.append((customer["id"], customer["tier"]))


queue = asyncio.Queue(maxsize=4)
seen = []
await asyncio.gather(producer(queue), *(consumer(queue, seen) for _ in range(3)))
for customer_id, tier in sorted(seen):
    print(customer_id, tier)
