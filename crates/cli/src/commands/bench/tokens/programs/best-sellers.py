import asyncio
from collections import Counter
from servers.database import export_rows

pages = await asyncio.gather(*(export_rows(table="order_items", offset=start, limit=10000) for start in range(0, 50000, 10000)))
units = Counter()
for row in (row for page in pages for row in page["rows"]):
    units[row["product_id"]] += row["quantity"]
top = sorted(units.items(), key=lambda item: (-item[1], item[0]))[:3]
result = {"rows": sum(len(page["rows"]) for page in pages), "most": [list(one) for one in top]}
