import math


def sieve(limit):
    flags = bytearray([1]) * (limit + 1)
    flags[:2] = b"\0\0"
    for n in range(2, math.isqrt(limit) + 1):
        if flags[n]:
            flags[n * n :: n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, flag in enumerate(flags) if flag]


def factor(n):
    found, p = [], 2
    while p * p <= n:
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    return found + ([n] if n > 1 else [])


primes = sieve(10_000)
result = {
    "count": len(primes),
    "last": primes[-1],
    "factors": factor(600851475143),
    "gcd_lcm": [math.gcd(84, 36), math.lcm(4, 6, 10)],
    "modular": [pow(3, -1, 11), pow(7, 222, 1000)],
    "digits": len(str(2**1000)),
    "comb": math.comb(40, 20),
}
