# attack: recurse through C functions, which use the machine's stack
# expect: error | limit:memory | crash
# forbid: PWNED
# timeout_ms: 5000
import sys

sys.setrecursionlimit(10**7)


class Loop:
    def __getattr__(self, name):
        return getattr(self, name + "x") if len(name) < 200_000 else None

    def __len__(self):
        return len(self)

    def __repr__(self):
        return repr([self])


for action in (lambda: len(Loop()), lambda: repr(Loop()), lambda: sorted([3, 1], key=lambda n: len(Loop()))):
    try:
        action()
    except RecursionError:
        print("refused")
Loop().x
raise RuntimeError("reached the end")
