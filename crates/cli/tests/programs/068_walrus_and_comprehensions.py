import re

lines = ["x=1", "# note", "y = 22", "", "z=three", "w=4"]
pairs = {m[1]: int(m[2]) for line in lines if (m := re.fullmatch(r"(\w+)\s*=\s*(\d+)", line))}
total = 0
running = [total := total + n for n in pairs.values()]
matrix = [[r * 3 + c for c in range(3)] for r in range(3)]
{
    "pairs": pairs,
    "running": running,
    "transposed": [list(column) for column in zip(*matrix)],
    "evens": sorted({n for row in matrix for n in row if n % 2 == 0}),
    "any_big": any((witness := n) > 20 for n in pairs.values()),
    "witness": witness,
}
