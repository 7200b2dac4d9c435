# attack: call one quick tool for ever
# expect: error | limit:tool_calls | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 3000
for n in range(1_000_000):
    await callMCPTool("echo", {"value": n})
print("PW" + "NED: a million calls")
