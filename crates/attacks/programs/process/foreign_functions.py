# attack: reach the C library
# expect: ok
# forbid: PWNED
# native: permitted
ways = {
    "ctypes": lambda: __import__("ctypes").CDLL(None).getpid(),
    "_ctypes": lambda: __import__("_ctypes").dlopen("libc.so.6", 2),
    "cffi": lambda: __import__("cffi").FFI().dlopen(None),
    "mmap": lambda: __import__("mmap").mmap(-1, 4096, prot=7),
    "extension": lambda: __import__("importlib.machinery").machinery.ExtensionFileLoader("x", "/lib/x86_64-linux-gnu/libc.so.6").create_module(None),
    "imp": lambda: __import__("_imp").create_dynamic(__import__("importlib.machinery").machinery.ModuleSpec("x", None, origin="/lib/libc.so.6")),
    "_testcapi": lambda: __import__("_testcapi").run_in_subinterp("x = 1"),
}
for name, way in ways.items():
    try:
        print("PW" + "NED:", name, way())
    except Exception as error:
        print(name, type(error).__name__)
