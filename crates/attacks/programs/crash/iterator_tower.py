# attack: a tower of C iterators that is deeper than the machine's stack
# expect: ok | error | crash
# forbid: PWNED
# timeout_ms: 5000
import itertools

tower = iter([1])
for _ in range(2_000_000):
    tower = itertools.chain(tower)
print(next(tower))
