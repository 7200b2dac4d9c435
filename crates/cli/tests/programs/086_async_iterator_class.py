class Ticker:
    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        self.i = 0
        return self

    async def __anext__(self):
        if self.i >= self.n:
            raise StopAsyncIteration
        self.i += 1
        await asyncio.sleep(0)
        return self.i


async def squares(source):
    async for n in source:
        yield n * n


print([n async for n in squares(Ticker(5)) if n % 2])
total = 0
async for n in Ticker(4):
    total += n
else:
    print("total", total)
print({n: -n async for n in Ticker(2)})
print(await anext(squares(Ticker(3))))
