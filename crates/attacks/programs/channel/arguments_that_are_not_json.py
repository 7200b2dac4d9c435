# attack: arguments that JSON cannot say, or says in a dangerous way
# expect: ok
# forbid: PWNED
class Liar(dict):
    def items(self):
        return [("value", "a"), ("value", "b")]

    def __iter__(self):
        while True:
            yield "value"


cycle = {}
cycle["value"] = cycle
for arguments in ({"value": float("nan")}, {"value": object()}, {"value": {1, 2}}, {"value": b"\xff"}, {1: 2}, {("a",): 1}, cycle, [1], "text", 5, {"value": "\ud800"}, {"value": 10**5000}, {"value": 1e308 * 10}):
    try:
        answer = await callMCPTool("echo", arguments)
        print("answered", type(answer).__name__)
    except (Exception, RecursionError) as error:
        print(type(error).__name__)
print((await callMCPTool("echo", {"value": "still works"}))["value"])
