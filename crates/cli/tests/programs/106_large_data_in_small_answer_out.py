# Works on every order and answers with a few numbers.
orders = []
for page in range(1, 13):
    orders.extend((await callMCPTool("list_orders", {"page": page}))["orders"])

print("bytes seen:", len(json.dumps(orders)) > 300_000)
amounts = sorted(o["amount_cents"] for o in orders)
lines = [i for o in orders for i in o["items"]]
result = {
    "orders": len(orders),
    "median": amounts[len(amounts) // 2],
    "p95": amounts[int(len(amounts) * 0.95)],
    "units": sum(i["quantity"] for i in lines),
    "goods_cents": sum(i["quantity"] * i["unit_cents"] for i in lines),
    "with_notes": sum(bool(o["notes"]) for o in orders),
    "first_day": min(o["created_at"] for o in orders)[:10],
    "last_day": max(o["created_at"] for o in orders)[:10],
}
