# attack: leave the interpreter's switches in a bad position
# expect: ok | error
# forbid: PWNED
# twice: yes
import decimal
import gc
import sys
import warnings

if sys.getrecursionlimit() == 77 or decimal.getcontext().prec == 1 or not gc.isenabled():
    print("PW" + "NED: the switches were kept")
gc.disable()
decimal.getcontext().prec = 1
decimal.DefaultContext.prec = 1
warnings.simplefilter("error")
sys.set_int_max_str_digits(0)
sys.dont_write_bytecode = True
result = "switched"
sys.setrecursionlimit(77)
