# attack: show a list nested a million levels deep
# expect: error | crash
# forbid: PWNED
# timeout_ms: 5000
deep = []
for _ in range(1_000_000):
    deep = [deep]
print("PW" + "NED:", len(repr(deep)))
