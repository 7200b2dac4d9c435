# attack: a result that grows while it is being written out
# expect: ok | error | limit:result_bytes | limit:result_depth | limit:memory | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 2000
# memory_mb: 128
from dataclasses import dataclass


class Growing(list):
    def __iter__(self):
        for n in super().__iter__():
            if len(self) < 3_000_000:
                self.append(n)
            result[f"key{len(result)}"] = n
            yield n


@dataclass
class Record:
    x: int = 0

    def __getattribute__(self, name):
        if name == "x":
            result["again"] = Record()
            return Record()
        return object.__getattribute__(self, name)


result = {"growing": Growing([1, 2]), "record": Record()}
