"""Random numbers, tuples and floats: a fractal by the chaos game, on curves between points."""

import random

CURVES = [
    [(1.6, 0.3), (2.8, 1.6), (0.3, 2.9), (4.1, 3.7)],
    [(0.2, 4.0), (3.3, 0.9), (1.9, 2.2), (4.4, 0.1)],
    [(2.5, 2.5), (0.6, 0.8), (3.9, 4.2), (1.1, 3.3)],
]
SIZE = 64


def at(curve, t):
    points = curve
    while len(points) > 1:
        points = [
            (one[0] + (other[0] - one[0]) * t, one[1] + (other[1] - one[1]) * t)
            for one, other in zip(points, points[1:])
        ]
    return points[0]


def work():
    dice = random.Random(1234)
    image = [[0] * SIZE for _ in range(SIZE)]
    x, y = 2.0, 2.0
    for _ in range(35_000):
        towards = at(CURVES[int(dice.random() * 3)], dice.random())
        x, y = (x + towards[0]) / 2, (y + towards[1]) / 2
        image[int(y / 5 * SIZE)][int(x / 5 * SIZE)] += 1
    return [sum(1 for row in image for count in row if count), max(map(max, image))]
