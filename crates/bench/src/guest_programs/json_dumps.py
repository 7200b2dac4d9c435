"""`json.dumps` of many small objects, and of a few large ones."""

import json

SMALL = {"id": 17, "name": "Ada", "tags": ["a", "b"], "score": 1.25, "is_open": True, "parent": None}
LARGE = [{"key": f"row {n}", "value": n * 1.5, "words": ["äöü", "plain", "\"quoted\""], "in": {"a": n}} for n in range(900)]


def work():
    length = 0
    for _ in range(22_000):
        length += len(json.dumps(SMALL))
    for _ in range(24):
        length += len(json.dumps(LARGE))
    return length
