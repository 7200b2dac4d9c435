from pathlib import Path

CACHE = Path("cache")
CACHE.mkdir(exist_ok=True)
hits = misses = 0


async def cached_customer(customer_id):
    global hits, misses
    path = CACHE / f"{customer_id}.json"
    if path.exists():
        hits += 1
        return json.loads(path.read_text())
    misses += 1
    customer = await callMCPTool("get_customer", {"customer_id": customer_id})
    path.write_text(json.dumps(customer))
    return customer


orders = (await callMCPTool("list_orders", {"page": 1, "page_size": 150}))["orders"]
countries = {}
for order in orders:
    customer = await cached_customer(order["customer_id"])
    countries[customer["country"]] = countries.get(customer["country"], 0) + 1

print("hits", hits, "misses", misses, "files", len(list(CACHE.glob("*.json"))))
print(json.dumps(countries, sort_keys=True))
