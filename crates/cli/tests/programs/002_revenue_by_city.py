from collections import defaultdict

pages = await asyncio.gather(
    *(callMCPTool("shop.list_orders", {"page": p, "page_size": 200}) for p in range(1, 7))
)
orders = [order for page in pages for order in page["orders"]]

by_city = defaultdict(lambda: {"orders": 0, "cents": 0})
for order in orders:
    if order["status"] != "paid":
        continue
    bucket = by_city[order["shipping_address"]["city"]]
    bucket["orders"] += 1
    bucket["cents"] += order["amount_cents"]

print(f"{'City':<10}{'Orders':>8}{'Revenue':>14}")
print("-" * 32)
for city, bucket in sorted(by_city.items(), key=lambda kv: -kv[1]["cents"]):
    print(f"{city:<10}{bucket['orders']:>8}{bucket['cents'] / 100:>14,.2f}")
