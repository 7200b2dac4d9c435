from dataclasses import dataclass


@dataclass
class Circle:
    radius: float


@dataclass
class Rect:
    w: float
    h: float


def describe(thing):
    match thing:
        case {"type": "event", "payload": {"id": int(ident), **rest}}:
            return f"event {ident} with {sorted(rest)}"
        case [("go" | "walk") as verb, direction]:
            return f"{verb} {direction}"
        case [first, *middle, last] if len(middle) > 1:
            return f"{first}..{last} around {len(middle)}"
        case Circle(radius=r):
            return f"circle {3 * r * r}"
        case Rect(w=w, h=h) if w == h:
            return f"square {w}"
        case Rect():
            return "rectangle"
        case str() | bytes():
            return "text"
        case None:
            return "nothing"
        case _:
            return "unknown"


for thing in (
    {"type": "event", "payload": {"id": 7, "b": 1, "a": 2}}, ["walk", "north"], [1, 2, 3, 4],
    Circle(2), Rect(3, 3), Rect(1, 2), "hi", b"hi", None, 3.14, {"type": "event"},
):
    print(describe(thing))
