from itertools import pairwise

orders = (await callMCPTool("list_orders", {"page": 1, "page_size": 200}))["orders"]
by_customer = {}
for o in sorted(orders, key=lambda o: (o["created_at"], o["id"])):
    by_customer.setdefault(o["customer_id"], []).append(o["status"])

matrix = {}
for statuses in by_customer.values():
    for before, after in pairwise(statuses):
        matrix.setdefault(before, {}).setdefault(after, 0)
        matrix[before][after] += 1

columns = sorted({c for row in matrix.values() for c in row} | set(matrix))
print(" " * 10 + "".join(f"{c:>10}" for c in columns))
for before in columns:
    print(f"{before:<10}" + "".join(f"{matrix.get(before, {}).get(c, 0):>10}" for c in columns))
