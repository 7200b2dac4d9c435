# attack: a result that contains itself
# expect: ok
# forbid: PWNED
result = {"list": []}
result["list"].append(result)
