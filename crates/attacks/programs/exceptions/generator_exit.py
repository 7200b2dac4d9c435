# attack: raise the exceptions that are no Exception
# expect: error | ok
# forbid: PWNED
# twice: yes
class Own(BaseException):
    pass


for kind in (GeneratorExit, asyncio.CancelledError, StopAsyncIteration, StopIteration):
    try:
        raise kind("x")
    except BaseException as error:
        print(type(error).__name__)
raise Own("not an Exception")
