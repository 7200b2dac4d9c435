async def all_orders(page_size=200):
    page = 1
    while page is not None:
        answer = await callMCPTool("list_orders", {"page": page, "page_size": page_size})
        for order in answer["orders"]:
            yield order
        page = answer["next_page"]


refunds = [o["id"] async for o in all_orders() if o["status"] == "refunded" and o["notes"]]
result = {"count": len(refunds), "first": refunds[:3], "last": refunds[-1]}
