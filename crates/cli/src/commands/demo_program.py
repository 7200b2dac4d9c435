from collections import defaultdict

orders, page = [], 1
while page:
    answer = await callMCPTool("shop.list_orders", {"page": page, "page_size": 200})
    orders += answer["orders"]
    page = answer["next_page"]

lost = defaultdict(int)
for order in orders:
    if order["status"] == "failed" and order["currency"] == "EUR":
        lost[order["customer_id"]] += order["amount_cents"]

worst = sorted(lost, key=lost.get, reverse=True)[:5]
customers = await asyncio.gather(*(callMCPTool("shop.get_customer", {"customer_id": c}) for c in worst))

print(f"{len(orders):,} orders read, {len(lost)} customers with failed payments in EUR")
for customer in customers:
    print(f"  {customer['name']:<12} {customer['tier']:<7} {customer['country']}  EUR {lost[customer['id']] / 100:>9,.2f}")

result = {"lost_eur": sum(lost.values()) / 100, "call_first": customers[0]["name"]}
