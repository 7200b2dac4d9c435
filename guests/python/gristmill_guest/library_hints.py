"""What to write instead of what this interpreter has not: signals, locales, counts beyond 32 bits, removed names."""

import datetime
import re
import types

from gristmill_guest import tracebacks

_NO_SIGNALS = "the sandbox has no signals: write async with asyncio.timeout(seconds)"
_ONE_PROCESS = "the sandbox has one process and no signals"
_NO_USERS = "the sandbox has no users"
_32_BITS = "lengths and counts stop at 2**31 - 1 in this 32-bit Python"

# By module and attribute.
ATTRIBUTES = {
    **{("signal", name): _NO_SIGNALS for name in "alarm setitimer getitimer pause siginterrupt sigwait".split()},
    **{("os", name): _ONE_PROCESS for name in "kill killpg getppid wait waitpid".split()},
    **{("os", name): _NO_USERS for name in "getuid geteuid getgid getlogin chown setuid".split()},
    ("hashlib", "scrypt"): "write hashlib.pbkdf2_hmac(...)",
    ("time", "clock"): "it was removed in Python 3.8: write time.perf_counter()",
    ("inspect", "getargspec"): "it was removed in Python 3.11: write inspect.getfullargspec(...)",
    ("asyncio", "coroutine"): "it was removed in Python 3.11: write async def",
    ("asyncio", "async"): "write asyncio.create_task(...)",
    ("locale", "format"): "it was removed in Python 3.12: write locale.format_string(...)",
    ("string", "letters"): "this is Python 3: write string.ascii_letters",
    ("string", "maketrans"): "this is Python 3: write str.maketrans(...)",
    ("urllib", "urlopen"): "the sandbox has no network; call a tool, or await http.get(url) for allowed hosts",
    ("urllib", "urlencode"): "write urllib.parse.urlencode(...)",
    ("urllib", "quote"): "write urllib.parse.quote(...)",
    ("os", "getcwdu"): "this is Python 3: write os.getcwd()",
    ("sys", "maxint"): "this is Python 3: write sys.maxsize",
    ("itertools", "izip"): "this is Python 3: write zip(...)",
    ("itertools", "imap"): "this is Python 3: write map(...)",
    ("math", "mean"): "write statistics.mean(...)",
    ("json", "parse"): "this is Python: write json.loads(...)",
    ("json", "stringify"): "this is Python: write json.dumps(...)",
    ("random", "randInt"): "write random.randint(...)",
}
_ABCS = frozenset(
    "Mapping MutableMapping Sequence MutableSequence Iterable Iterator Callable Set MutableSet Hashable Sized "
    "Container Generator Collection".split()
)
_DATETIME_CLASS = frozenset(
    name for name in vars(datetime.datetime) if not name.startswith("_") and not hasattr(datetime, name)
)


def for_attribute(error):
    """An AttributeError of a module, or of the class that is called like one."""
    name, owner = error.name, error.obj
    if type(name) is not str:
        return None
    if owner is datetime.datetime and name in ("datetime", "timedelta", "date", "timezone", "UTC"):
        return f"datetime is the class here: add from datetime import {name} and write {name}"
    if type(owner) is not types.ModuleType:
        return None
    module = owner.__name__
    if owner is datetime and (name in _DATETIME_CLASS or name == "today"):
        return f"write datetime.datetime.{name}(...), or: from datetime import datetime"
    if module in ("collections", "typing") and name in _ABCS:
        return f"it was removed in Python 3.10: write collections.abc.{name}"
    return ATTRIBUTES.get((module, name))


def for_import(error):
    """`from collections import Mapping` and the like."""
    module, message = error.name, tracebacks.message_of(error)
    found = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", message)
    if found is None or type(module) is not str:
        return None
    name = found.group(1)
    if module == "collections" and name in _ABCS:
        return f"it was removed in Python 3.10: write from collections.abc import {name}"
    return ATTRIBUTES.get((module, name))


def for_number(error, message):
    """An OverflowError or ValueError about a number that C cannot count."""
    if "C ssize_t" in message or "index-sized integer" in message:
        return f"{_32_BITS}: leave the count out, or use None or a smaller one"
    if "islice()" in message and "sys.maxsize" in message:
        return f"{_32_BITS}: pass None for no end"
    if "convert to C long" in message or "convert to C unsigned long" in message or "too large for C" in message:
        return "C integers are 32-bit in this Python: for 64 bits, use 'q' or 'Q' in array and struct"
    if message.startswith(("'l' format requires", "'L' format requires")):
        return "'l' and 'L' are 32-bit in this Python: write 'q' or 'Q' for 64 bits"
    if message.startswith("Currency formatting is not possible"):
        return 'the sandbox has only the C locale: write f"${amount:,.2f}"'
    return None
