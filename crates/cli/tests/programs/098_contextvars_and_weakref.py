import contextvars
import gc
import weakref

request = contextvars.ContextVar("request", default="none")


async def handler(name):
    request.set(name)
    await asyncio.sleep(0)
    return request.get()


class Thing:
    pass


names = await asyncio.gather(*(handler(n) for n in ("a", "b", "c")))
thing = Thing()
reference = weakref.ref(thing)
before = reference() is thing
del thing
gc.collect()
result = {"names": names, "outside": request.get(), "before": before, "after": reference() is None}
