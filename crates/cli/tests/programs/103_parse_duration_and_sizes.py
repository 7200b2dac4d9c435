import re
from datetime import timedelta

UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def duration(text):
    if not re.fullmatch(r"(\d+[dhms])+", text):
        raise ValueError(f"not a duration: {text!r}")
    return timedelta(**{UNITS[u]: int(n) for n, u in re.findall(r"(\d+)([dhms])", text)})


def human(size):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.1f} {unit}" if unit != "B" else f"{size} B"
        size /= 1024


outcomes = []
for text in ("1d2h", "90m", "45s", "soon"):
    try:
        outcomes.append(duration(text).total_seconds())
    except ValueError as error:
        outcomes.append(str(error))
result = {"durations": outcomes, "sizes": [human(n) for n in (0, 1023, 1024, 5_500_000, 3 * 2**40)]}
