from collections import Counter
from datetime import datetime

failed = []
page = 1
while page:
    answer = await callMCPTool("list_orders", {"page": page, "page_size": 200})
    failed += [o for o in answer["orders"] if o["status"] == "failed"]
    page = answer["next_page"]

by_month = Counter(
    datetime.fromisoformat(o["created_at"].replace("Z", "+00:00")).strftime("%Y-%m") for o in failed
)
print(f"Failed payments: {len(failed)} of {answer['total']} ({len(failed) / answer['total']:.1%})")
widest = max(by_month.values())
for month in sorted(by_month):
    bar = "#" * round(by_month[month] / widest * 20)
    print(f"  {month}  {bar:<20} {by_month[month]:>3}")
