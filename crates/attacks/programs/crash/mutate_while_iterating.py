# attack: old ways to confuse C code: change what it is working on
# expect: ok | error | crash
# forbid: PWNED
# timeout_ms: 3000
class Evil:
    def __init__(self, target):
        self.target = target

    def __eq__(self, other):
        self.target.clear()
        return False

    def __hash__(self):
        return 1

    def __lt__(self, other):
        self.target.clear()
        return True

    def __index__(self):
        self.target.clear()
        return 5


items = []
items.extend(Evil(items) for _ in range(50))
table = {}
for _ in range(20):
    try:
        table[Evil(table)] = 1
    except RuntimeError:
        pass
buffer = bytearray(100)
for action in (lambda: items.sort(), lambda: items.index(3), lambda: items == [1] * 50, lambda: buffer.__setitem__(Evil(buffer), 1), lambda: buffer.insert(Evil(buffer), 1), lambda: memoryview(buffer)[Evil(buffer)]):
    try:
        action()
    except Exception as error:
        print(type(error).__name__)
print("survived")
