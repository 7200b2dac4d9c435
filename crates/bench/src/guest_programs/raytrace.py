"""Operators of classes: spheres over a chessboard, seen through a few hundred pixels."""


class Vector:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def normalized(self):
        return self * (1.0 / self.dot(self) ** 0.5)

    def mirrored(self, normal):
        return self - normal * (2.0 * self.dot(normal))


class Sphere:
    def __init__(self, center, radius, shade):
        self.center, self.radius, self.shade = center, radius, shade

    def distance(self, origin, direction):
        towards = self.center - origin
        along = towards.dot(direction)
        inside = self.radius * self.radius - (towards.dot(towards) - along * along)
        return None if inside < 0 else along - inside**0.5

    def normal(self, point):
        return (point - self.center).normalized()

    def shade_at(self, point):
        return self.shade


class Floor:
    def distance(self, origin, direction):
        return None if direction.y >= -1e-6 else -origin.y / direction.y

    def normal(self, point):
        return Vector(0.0, 1.0, 0.0)

    def shade_at(self, point):
        return 0.9 if (int(point.x // 1) + int(point.z // 1)) % 2 else 0.3


class Scene:
    def __init__(self):
        self.things = [Sphere(Vector(x * 1.5 - 3.0, 1.0, 4.0 + x), 0.8, 0.2 + x / 8) for x in range(5)]
        self.things.append(Floor())
        self.light = Vector(-4.0, 8.0, -3.0)

    def nearest(self, origin, direction):
        found, nearest = None, 1e9
        for thing in self.things:
            distance = thing.distance(origin, direction)
            if distance is not None and 1e-4 < distance < nearest:
                found, nearest = thing, distance
        return found, nearest

    def shade(self, origin, direction, depth):
        thing, distance = self.nearest(origin, direction)
        if thing is None:
            return 0.1
        point = origin + direction * distance
        normal = thing.normal(point)
        to_light = (self.light - point).normalized()
        is_lit = self.nearest(point, to_light)[0] is None
        shade = thing.shade_at(point) * (0.2 + (max(0.0, normal.dot(to_light)) if is_lit else 0.0))
        if depth < 2:
            shade += 0.3 * self.shade(point, direction.mirrored(normal), depth + 1)
        return shade


def work():
    scene, eye = Scene(), Vector(0.0, 1.6, -3.0)
    width, height, total = 100, 75, 0.0
    for row in range(height):
        for column in range(width):
            direction = Vector(column / width - 0.5, 0.4 - row / height, 1.0).normalized()
            total += scene.shade(eye, direction, 0)
    return round(total, 6)
