# attack: make a traceback quote lines of a host file
# expect: error
# forbid: CANARY-7f3a
# forbid: PWNED
import linecache
import traceback

code = compile("def f():\n    g()\nraise ValueError(1)", "@@CANARY@@", "exec")
try:
    exec(code)
except ValueError:
    print(traceback.format_exc())
print(linecache.getlines("@@CANARY@@"))
exec(compile("\nboom()", "@@CANARY@@", "exec"))
