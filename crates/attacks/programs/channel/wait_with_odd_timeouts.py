# attack: time-outs that overflow on the way to a clock
# expect: ok | error | limit:wall_time | crash
# forbid: PWNED
# timeout_ms: 1500
from wit_world.imports import host

for timeout in (0, 1, -1, -(2**63), 0.5, float("nan"), "1", b"", True, 2**64, 2**64 - 1):
    try:
        print(repr(timeout), host.wait_any(timeout))
    except Exception as error:
        print(repr(timeout), type(error).__name__)
