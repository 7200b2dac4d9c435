# attack: wait for something that never happens
# expect: limit:wall_time | error
# forbid: PWNED
# timeout_ms: 700
try:
    await asyncio.wait_for(asyncio.Event().wait(), 20)
except TimeoutError:
    print("PW" + "NED: waited to the end")
