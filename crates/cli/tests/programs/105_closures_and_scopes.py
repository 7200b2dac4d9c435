def counter(start=0):
    n = start

    def step(by=1):
        nonlocal n
        n += by
        return n

    return step


functions = [lambda: i for i in range(3)]
bound = [lambda i=i: i for i in range(3)]


def collect(item, into=[]):
    into.append(item)
    return into


def signature(a, /, b, *rest, c=3, **extra):
    return (a, b, rest, c, sorted(extra))


tick = counter(10)
tick()
x = "global"


class Scope:
    x = "class"
    seen = [x for _ in range(1)]

    def read(self):
        return x


result = {
    "tick": tick(5),
    "late": [f() for f in functions],
    "bound": [f() for f in bound],
    "default": [len(collect(1)), len(collect(2))],
    "signature": signature(1, 2, 3, 4, c=5, z=1, y=2),
    "scope": [Scope().read(), Scope.x],
    "unpacked": [*range(2), *"ab", *{"k": 1}],
}
