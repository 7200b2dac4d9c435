# attack: raw JSON nested so deeply that a recursive parser overflows
# expect: ok | error | crash
# forbid: PWNED
from wit_world.imports import host

deep = "[" * 500_000 + "]" * 500_000
objects = '{"a":' * 200_000 + "1" + "}" * 200_000
for body in (deep, objects, '{"name":"echo","arguments":{"value":%s}}' % deep, '{"name":"echo","arguments":%s}' % objects, "[" * 1_000_000):
    for kind in ("tool", "call_tool", "call"):
        try:
            host.start_call(kind, body)
        except Exception as error:
            print(type(error).__name__, str(error)[:100])
try:
    print(str(host.wait_any(100_000))[:300])
except Exception as error:
    print(type(error).__name__)
