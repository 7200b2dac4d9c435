# attack: wrap the tool functions, so that the next program's calls are seen
# expect: ok | error
# forbid: PWNED
# twice: yes
import sys

if hasattr(callMCPTool, "tapped"):
    print("PW" + "NED: calls are tapped")


def tap(function):
    def tapped(*arguments, **keywords):
        return function(*arguments, **keywords)

    tapped.tapped = True
    return tapped


original = callMCPTool
for module in list(sys.modules.values()):
    for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else []:
        if value is original or name in ("callMCPTool", "call_mcp_tool"):
            setattr(module, name, tap(value))
try:
    original.tapped = True
    original.__code__ = (lambda *a, **k: None).__code__
except Exception as error:
    print(type(error).__name__)
