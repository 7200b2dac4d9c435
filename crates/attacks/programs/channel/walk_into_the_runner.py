# attack: climb the stack into the code that runs programs, and break it for the next one
# expect: ok | error | crash | limit:wall_time | limit:cpu_time
# forbid: PWNED
# twice: yes
# timeout_ms: 1500
import sys

frame = sys._getframe()
mine = frame.f_globals
runners = {}
for _ in range(100):
    frame = frame.f_back
    if frame is None:
        break
    if frame.f_globals is not mine:
        runners[id(frame.f_globals)] = frame.f_globals
for names in runners.values():
    if "planted_by_the_last_program" in names:
        print("PW" + "NED: the runner was changed for good")
    names["planted_by_the_last_program"] = True
    for name, value in list(names.items()):
        if callable(value) and getattr(value, "__module__", None) == names.get("__name__"):
            names[name] = lambda *arguments, **keywords: None
result = "honest"
