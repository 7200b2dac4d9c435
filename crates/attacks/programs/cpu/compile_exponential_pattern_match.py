# attack: source that takes the compiler for ever
# expect: ok | error | limit:wall_time | limit:cpu_time | limit:memory | crash
# forbid: PWNED
# timeout_ms: 2000
source = "f = lambda: (" + "[" * 150 + "0" + " for a in b]" * 150 + ")"
for _ in range(200):
    try:
        compile(source, "deep", "exec")
    except (SyntaxError, RecursionError, MemoryError):
        pass
nested = "if 1:\n" + "".join(" " * n + "for x in y:\n" for n in range(1, 19)) + " " * 19 + "pass\n"
compile(nested, "nested", "exec")
