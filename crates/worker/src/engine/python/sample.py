import json
import re
from collections import Counter, defaultdict

ORDERS = [{"id": n, "status": "open" if n % 3 else "paid", "total": n * 1.5} for n in range(8)]


def by_status(orders):
    counts = Counter(order["status"] for order in orders)
    sums = defaultdict(float)
    for order in orders:
        sums[order["status"]] += order["total"]
    return {status: {"count": count, "sum": round(sums[status], 2)} for status, count in counts.most_common()}


async def later(order):
    await asyncio.sleep(0)
    return f"order {order['id']:>4}".strip()


names = await asyncio.gather(*(later(order) for order in ORDERS[:2]))
largest = sorted(ORDERS, key=lambda order: (-order["total"], order["id"]))[:3]
numbers = [int(text) for text in re.findall(r"\d+", json.dumps(ORDERS[:3]))]
try:
    missing = ORDERS[0]["customer"]
except KeyError as error:
    missing = str(error)
found = await callMCPTool("crm.search_records", {"type": "account", "page": 1})
found = [found] + await asyncio.gather(*(callMCPTool("crm.get_record", id=order["id"]) for order in ORDERS[:2]))
print(len(names), missing, found[0]["total"])
result = {"by_status": by_status(ORDERS), "names": names, "largest": json.loads(json.dumps(largest)), "sum": sum(numbers)}
