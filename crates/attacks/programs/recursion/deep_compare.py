# attack: compare two structures nested a million levels deep
# expect: error | crash
# forbid: PWNED
# timeout_ms: 5000
left, right = [], []
for _ in range(1_000_000):
    left, right = [left], [right]
print("PW" + "NED:", left == right)
