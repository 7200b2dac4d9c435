# attack: a hand-made SyntaxError whose file is on the host
# expect: error
# forbid: CANARY-7f3a
# forbid: PWNED
raise SyntaxError("look here", ("@@CANARY@@", 1, 1, None))
