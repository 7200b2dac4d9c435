# attack: replace the clock so that time-outs in the guest never come
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import time

await asyncio.sleep(0)

real = time.monotonic
end = real() + 20
time.monotonic = lambda: 0.0
time.time = lambda: 0.0
time.perf_counter = lambda: 0.0
asyncio.get_running_loop().time = lambda: 0.0
while real() < end:
    pass
print("PW" + "NED: the clock was ours")
