# Total revenue of paid orders over every page.
page = 1
paid_cents = 0
paid_count = 0
while page is not None:
    batch = await callMCPTool("list_orders", {"page": page, "page_size": 200})
    for order in batch["orders"]:
        if order["status"] == "paid":
            paid_cents += order["amount_cents"]
            paid_count += 1
    page = batch["next_page"]

result = {"paid_orders": paid_count, "revenue": round(paid_cents / 100, 2)}
