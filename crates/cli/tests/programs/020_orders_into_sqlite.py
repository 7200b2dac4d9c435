import sqlite3

db = sqlite3.connect(":memory:")
db.row_factory = sqlite3.Row
db.execute("CREATE TABLE orders (id TEXT PRIMARY KEY, customer TEXT, cents INTEGER, status TEXT, city TEXT)")
page = 1
while page:
    answer = await callMCPTool("list_orders", {"page": page, "page_size": 200})
    with db:
        db.executemany(
            "INSERT INTO orders VALUES (:id, :customer_id, :amount_cents, :status, :city)",
            [{**o, "city": o["shipping_address"]["city"], "items": None, "shipping_address": None} for o in answer["orders"]],
        )
    page = answer["next_page"]

rows = db.execute(
    """
    SELECT city, COUNT(*) AS n, SUM(cents) AS cents, MAX(cents) AS biggest
    FROM orders WHERE status = ? GROUP BY city HAVING n > 10 ORDER BY cents DESC
    """,
    ("refunded",),
).fetchall()
for row in rows:
    print(f"{row['city']:>7}: {row['n']:3d} refunds, {row['cents'] / 100:10.2f} in all, biggest {row['biggest'] / 100:.2f}")
