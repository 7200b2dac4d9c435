# attack: parse and write JSON that is nested very deeply
# expect: error | crash
# forbid: PWNED
# timeout_ms: 4000
import json

for action in (lambda: json.loads("[" * 2_000_000), lambda: json.loads('{"a":' * 1_000_000)):
    try:
        action()
    except (RecursionError, ValueError) as error:
        print(type(error).__name__)
deep = []
for _ in range(1_000_000):
    deep = [deep]
print("PW" + "NED:", len(json.dumps(deep)))
