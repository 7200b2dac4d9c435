from collections import namedtuple
from dataclasses import dataclass, field
from datetime import date, datetime, time, timezone
from decimal import Decimal
from enum import Enum, IntEnum


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


Point = namedtuple("Point", "x y")


@dataclass
class Box:
    corner: Point
    labels: list[str] = field(default_factory=list)
    colour: Colour = Colour.RED


result = {
    "tuple": (1, 2, (3,)),
    "set": {3, 1, 2},
    "frozenset": frozenset("cab"),
    "datetime": datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc),
    "naive": datetime(2026, 1, 2, 3, 4, 5, 678000),
    "date": date(2026, 12, 31),
    "time": time(23, 59),
    "decimal": Decimal("10.50"),
    "dataclass": Box(Point(1, 2.5), ["a"]),
    "namedtuple": Point("x", None),
    "enum": Colour.RED,
    "int_enum": Level.HIGH,
    "floats": [float("nan"), float("inf"), float("-inf"), 0.1, -0.0],
    "bytes": "grüße".encode(),
    "none": None,
    "bools": [True, False],
    "big": 2**70,
}
