def table(rows, columns):
    widths = {c: max(len(c), *(len(str(r.get(c, ""))) for r in rows)) for c in columns}
    yield "| " + " | ".join(c.ljust(widths[c]) for c in columns) + " |"
    yield "|" + "|".join("-" * (widths[c] + 2) for c in columns) + "|"
    for row in rows:
        cells = []
        for c in columns:
            value = row.get(c, "")
            cells.append(str(value).rjust(widths[c]) if isinstance(value, (int, float)) else str(value).ljust(widths[c]))
        yield "| " + " | ".join(cells) + " |"


data = [{"name": "flour", "kg": 120, "price": 2.5}, {"name": "bran", "kg": 7}, {"name": "spelt", "kg": 33, "price": 10.25}]
print("\n".join(table(data, ["name", "kg", "price"])))
