# attack: more tool calls than any program needs, all at once
# expect: error | limit:tool_calls | limit:wall_time | limit:cpu_time | limit:memory
# forbid: PWNED
# timeout_ms: 4000
answers = await asyncio.gather(*(callMCPTool("sleep", {"ms": 30_000}) for _ in range(100_000)))
print("PW" + "NED:", len(answers))
