import csv

page = await callMCPTool("list_orders", {"page": 5, "page_size": 8})
with open("orders.csv", "w", newline="", encoding="utf-8") as f:
    writer = csv.DictWriter(f, fieldnames=["id", "status", "amount", "city", "notes"])
    writer.writeheader()
    for o in page["orders"]:
        writer.writerow(
            {
                "id": o["id"],
                "status": o["status"],
                "amount": f"{o['amount_cents'] / 100:.2f}",
                "city": o["shipping_address"]["city"],
                "notes": o["notes"],
            }
        )

with open("orders.csv", newline="", encoding="utf-8") as f:
    rows = list(csv.DictReader(f))
print(read_file("orders.csv").replace("\r\n", "\n"), end="")
print(len(rows), "rows,", sum(float(r["amount"]) for r in rows) > 0)
