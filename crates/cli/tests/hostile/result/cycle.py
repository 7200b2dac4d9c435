# attack: a result that contains itself
# expect: error | limit:result_depth
# forbid: PWNED
result = {"list": []}
result["list"].append(result)
