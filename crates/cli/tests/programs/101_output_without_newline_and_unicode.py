import sys

print("a", "b", sep="", end="")
sys.stdout.write("c\n")
print("no newline at the end: ", end="", flush=True)
print(*range(3), sep=",", end=";\n")
print("línea\tñ\u2028 \N{SNOWMAN} \U0001F980")
print("carriage\rreturn", "null:\0", "bell:\a", repr("\x1b[31m"))
print()
print(file=sys.stdout)
print("last", end="")
