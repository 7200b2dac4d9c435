# attack: search the whole heap for text of another program
# expect: ok
# forbid: PWNED
# twice: yes
# timeout_ms: 5000
import gc

needle = "left-" + "needle-" + "8c41"
found = 0
for thing in gc.get_objects():
    if isinstance(thing, dict):
        try:
            found += thing.get("token") == needle
        except Exception:
            pass
if found:
    print("PW" + "NED: text of the last program,", found, "times")
del found
secret_of_this_program = {"token": "left-" + "needle-" + "8c41"}
keep_alive = [secret_of_this_program for _ in range(10)]
