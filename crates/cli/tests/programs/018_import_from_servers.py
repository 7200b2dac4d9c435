from servers.shop import get_customer, list_orders

page = await list_orders(page=1, page_size=5)
names = []
for order in page["orders"]:
    customer = await get_customer(customer_id=order["customer_id"])
    names.append(f"{order['id']} was placed by {customer['name']} ({customer['country']})")
print("\n".join(names))
