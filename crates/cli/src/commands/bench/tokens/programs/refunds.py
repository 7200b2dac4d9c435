import asyncio
from collections import Counter
from servers.database import export_rows

pages = await asyncio.gather(*(export_rows(table="orders", offset=start, limit=10000) for start in range(0, 40000, 10000)))
count, cents = Counter(), Counter()
for row in (row for page in pages for row in page["rows"]):
    if row["status"] == "refunded":
        count[row["currency"]] += 1
        cents[row["currency"]] += row["total_cents"]
result = {currency: [count[currency], cents[currency]] for currency in sorted(count)}
