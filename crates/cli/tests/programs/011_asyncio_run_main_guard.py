import asyncio


async def main():
    first = await callMCPTool("list_orders", {"page": 1, "page_size": 3})
    for order in first["orders"]:
        quantity = sum(item["quantity"] for item in order["items"])
        print(f"{order['id']}: {quantity} item(s), {order['amount_cents'] / 100:.2f} {order['currency']}")
    print("of", first["total"])


if __name__ == "__main__":
    asyncio.run(main())
