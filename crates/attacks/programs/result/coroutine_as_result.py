# attack: a result that is still to come, or never comes
# expect: ok | error | limit:wall_time
# forbid: PWNED
# timeout_ms: 1000
async def never():
    await asyncio.Event().wait()


result = [never(), asyncio.ensure_future(never()), callMCPTool("echo", {"value": 1})]
await asyncio.sleep(0)
