import difflib

old = "alpha\nbeta\ngamma\ndelta\n".splitlines(keepends=True)
new = "alpha\nbetta\ngamma\nepsilon\ndelta\n".splitlines(keepends=True)
print("".join(difflib.unified_diff(old, new, "old.txt", "new.txt")), end="")
print(difflib.get_close_matches("apple", ["ape", "appel", "peach", "apply"], n=2))
print(round(difflib.SequenceMatcher(None, "gristmill", "windmill").ratio(), 4))
