# attack: leave a hostile object in place of the output stream
# expect: ok | error | limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 1500
import sys


class Hostile:
    encoding = None

    def write(self, text):
        raise SystemExit("write")

    def flush(self):
        raise KeyboardInterrupt

    def getvalue(self):
        return "replaced" * 1000

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self


sys.stdout = sys.__stdout__ = Hostile()
sys.stderr = sys.__stderr__ = None
result = "finished"
