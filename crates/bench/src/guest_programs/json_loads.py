"""`json.loads` of many small texts, and of a few large ones."""

import json

SMALL = '{"id": 17, "name": "Ada", "tags": ["a", "b"], "score": 1.25, "is_open": true, "parent": null}'
ROWS = [{"key": f"row {n}", "value": n * 1.5, "words": ["äöü", "plain", "\"quoted\""], "in": {"a": n}} for n in range(900)]
LARGE = json.dumps(ROWS)


def work():
    total = 0
    for _ in range(30_000):
        total += len(json.loads(SMALL))
    for _ in range(36):
        total += json.loads(LARGE)[-1]["in"]["a"]
    return total
