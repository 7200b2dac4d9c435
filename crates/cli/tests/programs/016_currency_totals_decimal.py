from decimal import ROUND_HALF_UP, Decimal

RATE = {"EUR": Decimal("1"), "USD": Decimal("0.9137")}
totals = {"EUR": Decimal(0), "USD": Decimal(0)}
for p in (1, 2, 3):
    for order in (await callMCPTool("list_orders", {"page": p}))["orders"]:
        totals[order["currency"]] += Decimal(order["amount_cents"]) / 100

in_euro = sum(amount * RATE[code] for code, amount in totals.items())
result = {
    "totals": totals,
    "in_euro": in_euro.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP),
}
