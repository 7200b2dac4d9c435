# attack: block in the host with nothing under way
# expect: ok | error | limit:wall_time | crash
# forbid: PWNED
# timeout_ms: 700
from wit_world.imports import host

print(host.wait_any(None))
print("returned")
