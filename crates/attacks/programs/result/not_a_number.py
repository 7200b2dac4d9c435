# attack: numbers that JSON does not have
# expect: ok
# forbid: PWNED
result = [float("nan"), float("inf"), -float("inf"), {"deep": [float("nan")]}, 1e308 * 10, -0.0]
