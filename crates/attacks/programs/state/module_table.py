# attack: put a false module where the next program will import it
# expect: ok
# forbid: PWNED
# twice: yes
import sys
import types

for name in ("csv", "statistics", "servers", "servers.shop", "planted"):
    module = sys.modules.get(name)
    if getattr(module, "false_module", False):
        print("PW" + "NED:", name)
    fake = types.ModuleType(name)
    fake.false_module = True
    sys.modules[name] = fake
