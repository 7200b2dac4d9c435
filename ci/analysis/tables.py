"""The tables that are compared: made of a fixed seed, with everything odd that real data has."""

import datetime
import io
import random

import pandas

SEED = 20260
ROWS = 180

CITIES = ["Oslo", "Bergen", "Łódź", "Rome", "new york", "", "São Paulo"]
# Beyond 2**53, where a double would lose the last digits.
BIG = 2**53 + 1


def orders():
    """Whole numbers, fractions, text, dates, truth values and money, most of them with gaps."""
    draw = random.Random(SEED)
    first = datetime.date(2026, 1, 5)

    def maybe(value, share=0.12):
        return None if draw.random() < share else value

    rows = []
    for number in range(ROWS):
        rows.append(
            {
                "id": number + 1,
                "city": maybe(draw.choice(CITIES)),
                "kind": draw.choice(["a", "b", "c"]),
                "count": maybe(draw.randrange(-5, 40)),
                "weight": maybe(round(draw.uniform(-3, 90), 4)),
                "open": maybe(draw.random() < 0.4),
                "day": (first + datetime.timedelta(days=draw.randrange(0, 70))).isoformat(),
                "price": round(draw.randrange(1, 100_000) / 100, 2),
                "big": BIG + draw.randrange(0, 1_000),
            }
        )
    # The same row twice: neither side may lose one.
    return [*rows, dict(rows[3]), dict(rows[3])]


def days():
    """One value a day, some days missing."""
    draw = random.Random(SEED + 1)
    first = datetime.date(2026, 2, 27)
    kept = [number for number in range(90) if number % 11 != 7]
    return [
        {"day": (first + datetime.timedelta(days=number)).isoformat(), "value": round(draw.gauss(50, 12), 3)}
        for number in kept
    ]


def cities():
    """To join with: one city twice, one that no order has, one without a name."""
    return [
        {"city": "Oslo", "country": "NO"},
        {"city": "Bergen", "country": "NO"},
        {"city": "Łódź", "country": "PL"},
        {"city": "Rome", "country": "IT"},
        {"city": "Rome", "country": "US"},
        {"city": "Riga", "country": "LV"},
    ]


def nested():
    draw = random.Random(SEED + 2)
    return [
        {"id": number, "customer": {"name": f"c{number % 4}", "address": {"zip": 1000 + draw.randrange(5)}}}
        for number in range(30)
    ]


def frame(rows):
    """The same rows for pandas, each column with a type that knows missing values."""
    return pandas.DataFrame(rows).convert_dtypes()


def text_file(text):
    return io.StringIO(text)
