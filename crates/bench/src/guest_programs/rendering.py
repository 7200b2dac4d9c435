"""Strings: a page from a template, with values escaped, filters and loops."""

import html
import re

TEMPLATE = """<table>
{% for row %}<tr class="{{ row.class }}"><td>{{ row.name | upper }}</td><td>{{ row.note }}</td><td>{{ row.count }}</td></tr>
{% end %}</table>"""
PARTS = re.compile(r"\{% for (\w+) %\}(.*?)\{% end %\}", re.DOTALL)
VALUES = re.compile(r"\{\{ (\w+)\.(\w+)(?: \| (\w+))? \}\}")
FILTERS = {"upper": str.upper, None: lambda text: text}


def render(rows):
    def loop(match):
        body = match.group(2)
        rendered = []
        for row in rows:
            rendered.append(VALUES.sub(lambda value: FILTERS[value.group(3)](html.escape(str(row[value.group(2)]))), body))
        return "".join(rendered)

    return PARTS.sub(loop, TEMPLATE)


def work():
    rows = [
        {"class": "odd" if n % 2 else "even", "name": f"row {n}", "note": f"<{n}> & \"{n * n}\"", "count": n % 17}
        for n in range(300)
    ]
    pages = [render(rows) for _ in range(60)]
    words = "-".join(pages[0].split()).replace("td>", "th>").title()
    lines = [f"{index:>6}: {line.strip()!r}" for index, line in enumerate(words.splitlines() * 100)]
    return [sum(map(len, pages)), len(words), sum(map(len, lines))]
