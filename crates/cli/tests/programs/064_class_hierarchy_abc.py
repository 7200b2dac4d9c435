from abc import ABC, abstractmethod


class Shape(ABC):
    registry = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Shape.registry[cls.__name__.lower()] = cls

    @abstractmethod
    def area(self): ...

    def __str__(self):
        return f"{type(self).__name__}({self.area():.2f})"

    @classmethod
    def make(cls, kind, *args):
        return cls.registry[kind](*args)


class Rectangle(Shape):
    def __init__(self, w, h):
        self.w, self.h = w, h

    def area(self):
        return self.w * self.h


class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side)


shapes = [Shape.make("rectangle", 2, 3.5), Shape.make("square", 4)]
print(*shapes, sep=", ")
print([c.__name__ for c in Square.__mro__])
try:
    Shape()
except TypeError:
    print("abstract")
