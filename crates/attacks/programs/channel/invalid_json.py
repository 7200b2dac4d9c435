# attack: payloads that are not JSON, or not the JSON that is expected
# expect: ok | error | crash
# forbid: PWNED
from wit_world.imports import host

bad = ["", "{", "null", "[]", "1", '"text"', "{}", '{"name": null}', '{"name": 5, "arguments": 7}', '{"name": "echo", "arguments": [1]}', '{"a":1,"a":2}', "NaN", "\ufeff{}", "\0", '{"name":"\\ud800"}', "1e999999", "{" * 500, '{"name":"echo"}{"name":"fail"}']
for payload in bad:
    for kind in ("tool", "call_tool", "call"):
        try:
            host.start_call(kind, payload)
        except Exception as error:
            print(type(error).__name__)
for _ in range(5):
    try:
        print(str(host.wait_any(20_000))[:300])
    except Exception as error:
        print(type(error).__name__)
answer = await callMCPTool("echo", {"value": "still works"})
result = answer["value"]
