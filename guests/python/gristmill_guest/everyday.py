"""What programs use without importing it: the everyday modules, some of their classes, and more helpers.

All of it lies among the builtins, so a program starts no slower, its variables and its context hide any of it, and
modules that it imports find it as well.
"""

import builtins
import datetime
import importlib
import re

from gristmill_guest import gateway_names

# Not the ones whose names programs give to values of their own: html, email, calendar, types, code, token.
MODULES = """
    asyncio base64 bisect collections contextlib copy csv dataclasses datetime decimal enum fractions functools glob
    gzip hashlib heapq http io itertools json logging math operator os pathlib random re shutil sqlite3 statistics string
    struct sys tempfile textwrap time traceback typing urllib uuid yaml zipfile zlib zoneinfo
""".split()
CLASSES = {
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "copy": "deepcopy",
    "dataclasses": "dataclass",
    "datetime": "timedelta timezone",
    "decimal": "Decimal",
    "enum": "Enum",
    "fractions": "Fraction",
    "functools": "lru_cache partial reduce",
    "io": "BytesIO StringIO",
    "pathlib": "Path",
    "typing": "Any Callable Dict List Optional Tuple Union",
    "zoneinfo": "ZoneInfo",
}

# Without an import `datetime` may be the module or the class in it; what follows it says which.
_IS_CLASS = re.compile(
    r"\bdatetime(?:\s*\(|"
    r"\.(?:now|utcnow|today|strptime|fromisoformat|fromtimestamp|utcfromtimestamp|combine|min|max)\b)"
)
_IMPORTS_IT = re.compile(r"(?:from|import)\s+(?:[\w.]+\s*,\s*)*datetime\b|import\s[^\n]*\bdatetime\b")


def install(importing=importlib.import_module):
    """Done once, when the image is built."""
    found = dict(gateway_names.NAMES)
    for name in MODULES:
        try:
            found[name] = importing(name)
        except ImportError:
            continue
    for module, names in CLASSES.items():
        found.update((name, getattr(importing(module), name)) for name in names.split())
    for name, value in found.items():
        if not hasattr(builtins, name):
            setattr(builtins, name, value)


def choose_datetime(text, names):
    """Makes `datetime` the class in a program that imports neither and uses it as the class."""
    if "datetime" not in text or "datetime" in names or _IMPORTS_IT.search(text):
        return
    if _IS_CLASS.search(text) and "datetime.datetime" not in text:
        names["datetime"] = datetime.datetime
