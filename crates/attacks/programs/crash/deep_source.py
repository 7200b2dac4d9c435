# attack: source text that overflows the parser or the compiler
# expect: ok | error | crash | limit:memory | limit:wall_time
# forbid: PWNED
# timeout_ms: 5000
for source in ("(" * 100_000, "-" * 500_000 + "1", "x" + ".y" * 300_000, "x" + "(0)" * 100_000, "[" * 90 + "]" * 90, "+".join(["1"] * 200_000), "not " * 300_000 + "x", "lambda: " * 100_000 + "1"):
    try:
        compile(source, "deep", "eval")
    except (SyntaxError, RecursionError, MemoryError) as error:
        print(type(error).__name__)
