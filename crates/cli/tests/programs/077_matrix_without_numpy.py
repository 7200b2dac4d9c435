from fractions import Fraction


def solve(a, b):
    n = len(a)
    m = [[Fraction(x) for x in row] + [Fraction(y)] for row, y in zip(a, b)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[pivot] = m[pivot], m[i]
        m[i] = [x / m[i][i] for x in m[i]]
        for r in range(n):
            if r != i:
                m[r] = [x - m[r][i] * y for x, y in zip(m[r], m[i])]
    return [row[-1] for row in m]


answer = solve([[2, 1, -1], [-3, -1, 2], [-2, 1, 2]], [8, -11, -3])
half = solve([[2, 4], [1, -1]], [1, 0])
[str(x) for x in answer + half]
