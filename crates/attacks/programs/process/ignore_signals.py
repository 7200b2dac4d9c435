# attack: ignore every signal, then never end
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import time

try:
    import signal

    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
except (ImportError, AttributeError):
    pass
end = time.monotonic() + 20
while time.monotonic() < end:
    pass
print("PW" + "NED: could not be stopped")
