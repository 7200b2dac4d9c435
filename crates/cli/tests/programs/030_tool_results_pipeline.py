from functools import reduce


def pipe(value, *steps):
    return reduce(lambda acc, step: step(acc), steps, value)


orders = (await callMCPTool("list_orders", {"page": 3, "page_size": 60}))["orders"]
result = pipe(
    orders,
    lambda xs: filter(lambda o: o["currency"] == "USD", xs),
    lambda xs: filter(lambda o: len(o["items"]) == 1, xs),
    lambda xs: map(lambda o: {"id": o["id"], "sku": o["items"][0]["sku"], "usd": o["amount_cents"] / 100}, xs),
    lambda xs: sorted(xs, key=lambda o: o["usd"], reverse=True),
    lambda xs: xs[:4],
)
