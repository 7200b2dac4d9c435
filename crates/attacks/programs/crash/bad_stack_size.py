# attack: a code object that lies about its stack and its names
# expect: crash | error | limit:wall_time | limit:memory
# forbid: PWNED
# timeout_ms: 1500
def victim(a, b):
    return [a, b, [a, [b, [a, [b, (a, b, a, b)]]]]]


victim.__code__ = victim.__code__.replace(co_stacksize=0)
for n in range(1000):
    victim(n, n)
victim.__code__ = victim.__code__.replace(co_varnames=("a", "b"), co_stacksize=2**28)
victim(1, 2)
raise RuntimeError("survived")
