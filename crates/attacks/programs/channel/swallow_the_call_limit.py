# attack: catch the refusal and go on calling
# expect: ok | limit:tool_calls | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 2500
import time

end = time.monotonic() + 20
served = 0
while time.monotonic() < end:
    try:
        await callMCPTool("echo", {"value": 1})
        served += 1
    except BaseException:
        pass
print("PW" + "NED:", served)
