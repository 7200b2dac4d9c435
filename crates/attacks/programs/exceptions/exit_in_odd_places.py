# attack: SystemExit and KeyboardInterrupt from where nobody expects them
# expect: ok | error
# forbid: PWNED
import sys


class Odd:
    def __del__(self):
        sys.exit(3)

    def __eq__(self, other):
        raise KeyboardInterrupt

    def __hash__(self):
        return 1


Odd()
for action in (lambda: Odd() == 1, lambda: [Odd()].index(1), lambda: {Odd(): 1}.get(1), lambda: sorted([2, 1], key=lambda n: sys.exit(n))):
    try:
        action()
    except BaseException as error:
        print(type(error).__name__)


async def leave():
    sys.exit("from a task")


task = asyncio.ensure_future(leave())
await asyncio.sleep(0.01)
sys.exit({"code": object()})
