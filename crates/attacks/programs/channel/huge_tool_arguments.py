# attack: arguments of two hundred megabytes
# expect: error | limit:memory | limit:tool_calls | limit:wall_time | crash
# forbid: PWNED
# timeout_ms: 8000
answer = await callMCPTool("echo", {"value": "v" * 200_000_000})
print("PW" + "NED:", len(answer["value"]))
