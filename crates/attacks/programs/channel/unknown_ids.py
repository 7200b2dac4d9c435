# attack: cancel calls that do not exist, and numbers that are none
# expect: ok | error | crash
# forbid: PWNED
from wit_world.imports import host

for ident in (0, 1, 7, 10**6, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 2**64, -1, -(2**63), 1.5, "1", None, True, [], object()):
    try:
        print(repr(ident)[:24], host.cancel_call(ident))
    except Exception as error:
        print(repr(ident)[:24], type(error).__name__)
