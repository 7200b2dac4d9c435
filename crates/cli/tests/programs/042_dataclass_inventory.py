from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace


@dataclass(order=True, frozen=True)
class Item:
    sort_index: float = field(init=False, repr=False)
    name: str
    price: float
    quantity: int = 0

    def __post_init__(self):
        if self.price < 0:
            raise ValueError(f"negative price for {self.name}")
        object.__setattr__(self, "sort_index", self.price * self.quantity)

    @property
    def worth(self) -> float:
        return self.sort_index


items = [Item("bolt", 0.25, 400), Item("gear", 12.5, 6), Item("motor", 80.0, 2)]
print(max(items).name, min(items).name)
print(replace(items[0], quantity=10))
print(asdict(items[1]))
try:
    items[0].price = 3
except AttributeError as error:
    print(type(error).__name__)
try:
    Item("hole", -1)
except ValueError as error:
    print(error)
