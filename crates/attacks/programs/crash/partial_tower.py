# attack: call a function through a tower of a million wrappers
# expect: error | crash | ok
# forbid: PWNED
# timeout_ms: 5000
import operator


class Link:
    __slots__ = ("next",)


class Bound:
    pass


Bound.__call__ = Bound()
try:
    Bound()()
except RecursionError:
    print("refused")
head = None
for _ in range(1_000_000):
    link = Link()
    link.next = head
    head = link
del head
key = operator.attrgetter(".".join(["next"] * 100_000))
try:
    key(link)
except (AttributeError, RecursionError) as error:
    print(type(error).__name__)
