import re
from datetime import date

RULES = {
    "email": lambda v: bool(re.fullmatch(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", v or "")),
    "age": lambda v: isinstance(v, int) and not isinstance(v, bool) and 0 < v < 130,
    "joined": lambda v: date.fromisoformat(v) <= date(2026, 6, 1),
}


def problems(record):
    found = []
    for name, rule in RULES.items():
        try:
            if not rule(record[name]):
                found.append(f"{name}: rejected {record[name]!r}")
        except KeyError:
            found.append(f"{name}: missing")
        except ValueError:
            found.append(f"{name}: malformed")
    return found


records = [
    {"email": "a@example.com", "age": 30, "joined": "2026-01-01"},
    {"email": "not an address", "age": True, "joined": "2027-01-01"},
    {"age": 200, "joined": "yesterday"},
]
for number, record in enumerate(records, 1):
    print(number, problems(record) or "ok")
