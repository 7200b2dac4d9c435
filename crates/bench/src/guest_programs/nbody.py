"""Floats in lists: bodies that attract each other."""

BODIES = [
    # x, y, z, vx, vy, vz, mass
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.5],
    [4.8, -1.2, -0.1, 0.6, 2.8, -0.02, 0.0377],
    [8.3, 4.1, -0.4, -1.0, 1.8, 0.01, 0.0113],
    [12.9, -15.1, -0.2, 1.1, 0.9, -0.01, 0.0017],
    [15.4, -25.9, 0.2, 1.0, 0.6, -0.03, 0.0020],
]
STEP = 0.01


def energy(bodies):
    total = 0.0
    for index, one in enumerate(bodies):
        total += one[6] * (one[3] ** 2 + one[4] ** 2 + one[5] ** 2) / 2.0
        for other in bodies[index + 1 :]:
            distance = ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2) ** 0.5
            total -= one[6] * other[6] / distance
    return total


def advance(bodies, pairs, steps):
    for _ in range(steps):
        for one, other in pairs:
            dx, dy, dz = one[0] - other[0], one[1] - other[1], one[2] - other[2]
            square = dx * dx + dy * dy + dz * dz
            pull = STEP / (square * square**0.5)
            here, there = other[6] * pull, one[6] * pull
            one[3] -= dx * here
            one[4] -= dy * here
            one[5] -= dz * here
            other[3] += dx * there
            other[4] += dy * there
            other[5] += dz * there
        for body in bodies:
            body[0] += STEP * body[3]
            body[1] += STEP * body[4]
            body[2] += STEP * body[5]


def work():
    bodies = [list(body) for body in BODIES]
    pairs = [(one, other) for index, one in enumerate(bodies) for other in bodies[index + 1 :]]
    before = energy(bodies)
    advance(bodies, pairs, 22_000)
    return [round(before, 9), round(energy(bodies), 9)]
