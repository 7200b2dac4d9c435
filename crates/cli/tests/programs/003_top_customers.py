from collections import Counter

spend = Counter()
page = 1
while page:
    response = await callMCPTool("list_orders", page=page, page_size=150)
    for o in response["orders"]:
        if o["status"] == "paid":
            spend[o["customer_id"]] += o["amount_cents"]
    page = response["next_page"]

top = spend.most_common(5)
customers = await asyncio.gather(*[callMCPTool("get_customer", customer_id=cid) for cid, _ in top])

[
    {"name": c["name"], "tier": c["tier"], "country": c["country"], "spend": cents / 100}
    for c, (_, cents) in zip(customers, top)
]
