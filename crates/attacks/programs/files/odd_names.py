# attack: names that mean something else to somebody
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

made = []
for name in (
    "", ".", "..", "...", " ", "a\0b", "new\nline", "-rf", "~", "$HOME", "`id`", "CON", "nul.txt", "x:stream", "tail.", "back\\..\\slash",
    "%2e%2e%2fx", "\u202egpj", "\ud800", "é", "e\u0301", "*?[]", "x" * 255, "x" * 256, "y/" * 400 + "z", "\uff0e\uff0e\uff0fx", ".gristmill", ".git",
):
    try:
        with open(name, "w") as f:
            f.write("x")
        made.append(name)
    except (OSError, ValueError) as error:
        print(ascii(name)[:20], type(error).__name__)
print(len(made), "made;", len(os.listdir(".")), "listed")
for climb in ("back\\..\\..\\..\\x", "..\\..\\x", "%2e%2e/%2e%2e/x", "\uff0e\uff0e/x", ".. /x", "..\0/x"):
    try:
        print(ascii(climb), open(climb).read())
    except (OSError, ValueError):
        pass
