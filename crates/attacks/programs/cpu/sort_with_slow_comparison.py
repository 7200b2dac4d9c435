# attack: a sort whose comparison does the work of a program
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
class Slow:
    def __lt__(self, other):
        sum(range(200_000))
        return id(self) < id(other)


sorted(Slow() for _ in range(1000))
print("PW" + "NED: sorted")
