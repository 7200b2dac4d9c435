"""Large whole numbers: digits of pi, one after another."""

DIGITS = 1_400


def digits():
    q, r, t, k, n, m = 1, 0, 1, 1, 3, 3
    while True:
        if 4 * q + r - t < n * t:
            yield n
            q, r, n = 10 * q, 10 * (r - n * t), 10 * (3 * q + r) // t - 10 * n
        else:
            q, r, t, k, n, m = q * k, (2 * q + r) * m, t * m, k + 1, (q * (7 * k + 2) + r * m) // (t * m), m + 2


def work():
    found = digits()
    return "".join(str(next(found)) for _ in range(DIGITS))[-20:]
