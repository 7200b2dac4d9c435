# attack: a coroutine that awaits itself without end
# expect: error | crash | limit:memory
# forbid: PWNED
# timeout_ms: 5000
async def down(n):
    return await down(n + 1) if n < 10**7 else n


print("PW" + "NED:", await down(0))
