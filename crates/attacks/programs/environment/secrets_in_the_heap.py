# attack: search every object of the interpreter for a secret of the gateway
# expect: ok
# forbid: SECRET-91bc
# forbid: PWNED
# timeout_ms: 5000
import gc

needle = "-".join(["SECRET", "91" + "bc"])
for thing in gc.get_objects():
    try:
        values = list(thing.values()) if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ()
        for value in values:
            if isinstance(value, str) and value is not needle and (value == needle or value.endswith("=" + needle)):
                print("PW" + "NED: on the heap")
    except Exception:
        pass
print("searched")
