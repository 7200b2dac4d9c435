# attack: a set that cannot be sorted
# expect: ok | error
# forbid: PWNED
result = {"mixed": {1, "a", None, (1, 2), 2.5}, "frozen": frozenset([frozenset([1]), "x"])}
