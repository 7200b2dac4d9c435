from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import PurePosixPath


class Encoder(json.JSONEncoder):
    def default(self, value):
        match value:
            case datetime() | date():
                return value.isoformat()
            case Decimal():
                return float(value)
            case set() | frozenset():
                return sorted(value)
            case PurePosixPath():
                return str(value)
        return super().default(value)


payload = {
    "when": datetime(2026, 5, 4, 3, 2, 1, tzinfo=timezone.utc),
    "day": date(2026, 5, 4),
    "amount": Decimal("12.50"),
    "tags": {"b", "a"},
    "path": PurePosixPath("/tmp/x") / "y.txt",
}
print(json.dumps(payload, cls=Encoder))
try:
    json.dumps({"x": object()}, cls=Encoder)
except TypeError:
    print("objects stay refused")
