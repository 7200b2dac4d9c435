from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext

lines = [("Widget", Decimal("19.99"), 3), ("Gadget", Decimal("0.05"), 120), ("Service", Decimal("100"), 1)]
vat = Decimal("0.20")
cent = Decimal("0.01")
net = sum((price * n for _, price, n in lines), Decimal(0))
tax = (net * vat).quantize(cent, ROUND_HALF_UP)
for name, price, n in lines:
    print(f"{name:.<14}{n:>5} x {price:>7.2f} = {price * n:>9.2f}")
print(f"{'net':>40} {net:>9,.2f}".replace(" " * 20, "", 1))
print(f"VAT {tax}  total {net + tax}")
print(Decimal("2.675").quantize(cent, ROUND_HALF_EVEN), Decimal("2.675").quantize(cent, ROUND_HALF_UP))
with localcontext() as ctx:
    ctx.prec = 30
    print(Decimal(1) / Decimal(7))
print(Decimal("0.1") + Decimal("0.2") == Decimal("0.3"), 0.1 + 0.2 == 0.3)
