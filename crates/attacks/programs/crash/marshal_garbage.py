# attack: load code objects from damaged bytes
# expect: ok | error | crash | limit:memory | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 2000
import marshal
import random

good = marshal.dumps(compile("def f(x):\n    return [x] * 3\nf(2)", "x", "exec"))
rng = random.Random(7)
for _ in range(3000):
    bad = bytearray(good)
    for _ in range(3):
        bad[rng.randrange(len(bad))] = rng.randrange(256)
    try:
        exec(marshal.loads(bytes(bad)), {})
    except BaseException:
        pass
