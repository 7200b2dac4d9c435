# attack: the interpreter's own ways to crash on purpose
# expect: ok | error | crash
# forbid: PWNED
ways = {
    "faulthandler": lambda: __import__("faulthandler")._read_null(),
    "sigsegv": lambda: __import__("faulthandler")._sigsegv(),
    "overflow": lambda: __import__("faulthandler")._stack_overflow(),
    "ctypes": lambda: __import__("ctypes").string_at(0),
    "testcapi": lambda: __import__("_testcapi").crash_no_current_thread(),
    "fatal": lambda: __import__("faulthandler")._fatal_error_c_thread(),
}
for name, way in ways.items():
    try:
        way()
    except Exception as error:
        print(name, type(error).__name__)
