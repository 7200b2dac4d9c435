# attack: containers that answer differently every time
# expect: ok | error | limit:result_bytes | limit:result_depth | limit:memory | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 2000
# memory_mb: 128
class LyingDict(dict):
    def items(self):
        return ((str(n), LyingDict()) for n in range(5_000_000))

    def keys(self):
        return iter(range(5_000_000))

    def __iter__(self):
        return iter(range(5_000_000))

    def __len__(self):
        return -1

    def __getitem__(self, key):
        raise SystemExit(key)


class LyingList(list):
    def __iter__(self):
        for _ in range(5_000_000):
            yield LyingList([1])

    def __len__(self):
        return 2**31


result = {"dict": LyingDict(a=1), "list": LyingList([1])}
