# attack: groups of groups of groups
# expect: error | crash | limit:memory
# forbid: PWNED
# timeout_ms: 4000
group = ValueError("inside")
for n in range(50_000):
    group = ExceptionGroup(f"level {n}", [group])
raise group
