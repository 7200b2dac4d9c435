# attack: replace open, print and len for the next program
# expect: ok | error
# forbid: PWNED
# twice: yes
import builtins

real_print = print


def spying_print(*values, **options):
    real_print("PW" + "NED: the last program listens", *values)


if builtins.print is not real_print or getattr(builtins.len, "planted", False):
    print("PW" + "NED: builtins were kept")


def length(value):
    return 0


length.planted = True
result = "planted"
builtins.len, builtins.open = length, None
builtins.print = lambda *values, **options: spying_print(*values) if values and values[0] == "to the next" else real_print(*values)
