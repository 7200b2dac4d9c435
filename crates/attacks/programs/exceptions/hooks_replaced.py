# attack: replace the hooks that report errors
# expect: error | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 1000
import linecache
import sys
import time
import traceback

end = time.monotonic() + 10


def hook(*arguments, **keywords):
    while time.monotonic() < end:
        pass


sys.excepthook = sys.unraisablehook = sys.displayhook = hook
linecache.getline = linecache.getlines = linecache.checkcache = hook
traceback.format_exception = traceback.print_exception = traceback.format_exc = hook
raise ValueError("report me")
