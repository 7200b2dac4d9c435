# attack: raise deadly signals inside
# expect: ok | error | crash
# forbid: PWNED
import signal

for name in ("SIGTERM", "SIGSEGV", "SIGABRT", "SIGKILL"):
    try:
        signal.raise_signal(getattr(signal, name))
    except Exception as error:
        print(name, type(error).__name__)
