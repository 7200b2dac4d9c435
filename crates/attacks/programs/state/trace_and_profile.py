# attack: leave a trace function that sees every line of the next program
# expect: ok
# forbid: PWNED
# twice: yes
import sys

for getter in (sys.gettrace, sys.getprofile):
    if getattr(getter(), "__name__", "") == "left_tracer":
        print("PW" + "NED: still traced")


def left_tracer(frame, event, argument):
    return left_tracer


sys.settrace(left_tracer)
sys.setprofile(left_tracer)
try:
    sys.addaudithook(lambda *arguments: None)
except Exception as error:
    print(type(error).__name__)
result = "traced"
