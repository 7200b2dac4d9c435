"""Decimals: calls priced, taxed, rounded and added up."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")
RATES = [Decimal("0.0013"), Decimal("0.00894")]
TAX, MORE_TAX = Decimal("0.0675"), Decimal("0.0341")


def work():
    total = tax_total = Decimal(0)
    texts = 0
    for n in range(70_000):
        seconds = Decimal(n * 7919 % 10_007)
        is_far = n % 2
        price = (seconds * RATES[is_far]).quantize(CENT, rounding=ROUND_HALF_EVEN)
        tax = (price * TAX).quantize(CENT, rounding=ROUND_DOWN)
        if is_far:
            tax += (price * MORE_TAX).quantize(CENT, rounding=ROUND_DOWN)
        total += price + tax
        tax_total += tax
        texts += len(str(price + tax))
    return [str(total), str(tax_total), texts]
