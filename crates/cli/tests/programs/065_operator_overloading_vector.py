import math


class Vector:
    __slots__ = ("parts",)

    def __init__(self, *parts):
        self.parts = tuple(parts)

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __mul__(self, k):
        return Vector(*(a * k for a in self.parts)) if isinstance(k, (int, float)) else NotImplemented

    __rmul__ = __mul__

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.parts, other.parts))

    def __eq__(self, other):
        return isinstance(other, Vector) and self.parts == other.parts

    def __hash__(self):
        return hash(self.parts)

    def __abs__(self):
        return math.hypot(*self.parts)

    def __getitem__(self, i):
        return self.parts[i]

    def __repr__(self):
        return f"Vector{self.parts!r}"

    def __bool__(self):
        return any(self.parts)


a, b = Vector(1, 2), Vector(3, 4)
print(a + b, 3 * a, a @ b, abs(b), bool(Vector(0, 0)))
print(a == Vector(1, 2), len({a, Vector(1, 2), b}), list(b), b[-1])
try:
    a * "x"
except TypeError:
    print("cannot multiply by text")
try:
    a + Vector(1, 2, 3)
except ValueError:
    print("lengths differ")
