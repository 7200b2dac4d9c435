# attack: exceptions that cause each other, in a circle
# expect: error
# forbid: PWNED
first, second = ValueError("first"), KeyError("second")
first.__cause__, second.__cause__ = second, first
first.__context__, second.__context__ = second, first
first.__notes__ = [first, object(), "note\x1b[31m", "n" * 1000]
raise first
