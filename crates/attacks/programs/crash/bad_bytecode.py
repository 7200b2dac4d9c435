# attack: run bytecode that no compiler made
# expect: crash | error | limit:wall_time | limit:cpu_time | limit:memory
# forbid: PWNED
# timeout_ms: 1500
def victim():
    return 0


for code in (b"\x64\xff" * 16, bytes(range(256)), b"\x53\x00" * 4, b"\x01\x00" * 64, b"\x5c\xff\x53\x00"):
    victim.__code__ = victim.__code__.replace(co_code=code, co_stacksize=1, co_consts=(), co_names=())
    try:
        victim()
    except BaseException as error:
        print(type(error).__name__)
raise RuntimeError("survived")
