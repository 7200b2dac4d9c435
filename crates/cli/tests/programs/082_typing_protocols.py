from dataclasses import dataclass
from typing import Any, Callable, Generic, Iterable, Literal, NamedTuple, Optional, Protocol, TypedDict, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class Priced(Protocol):
    def price(self) -> float: ...


class Row(TypedDict, total=False):
    sku: str
    qty: int


class Span(NamedTuple):
    start: int
    end: int = 10

    @property
    def length(self) -> int:
        return self.end - self.start


@dataclass
class Stack(Generic[T]):
    items: list[T]

    def pop(self, default: Optional[T] = None) -> T | None:
        return self.items.pop() if self.items else default


class Apple:
    def price(self) -> float:
        return 0.5


def apply(f: Callable[[T], Any], values: Iterable[T], mode: Literal["list", "sum"] = "list") -> Any:
    mapped = [f(v) for v in values]
    return mapped if mode == "list" else sum(mapped)


row: Row = {"sku": "SKU-001", "qty": 3}
print(isinstance(Apple(), Priced), isinstance(3, Priced))
print(row, Span(4).length, Span(1, 3)._asdict())
stack = Stack[int]([1, 2])
print(stack.pop(), stack.pop(), stack.pop(default=-1))
print(apply(len, ["a", "bcd"]), apply(abs, [-2, 5], mode="sum"))
