orders = (await callMCPTool("list_orders", {"page": 2, "page_size": 25}))["orders"]
ids = sorted({o["customer_id"] for o in orders})
customers = dict(
    zip(ids, await asyncio.gather(*(callMCPTool("shop.get_customer", {"customer_id": i}) for i in ids)))
)
summary = {}
for o in orders:
    tier = customers[o["customer_id"]]["tier"]
    entry = summary.setdefault(tier, {"orders": 0, "cents": 0, "countries": set()})
    entry["orders"] += 1
    entry["cents"] += o["amount_cents"]
    entry["countries"].add(customers[o["customer_id"]]["country"])
summary
