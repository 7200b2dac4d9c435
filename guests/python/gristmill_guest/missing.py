"""What to say when a module cannot be imported: why, what instead, what is close by."""

import difflib
import sys

from gristmill_guest import tool_imports

_NETWORK = "the sandbox has no network; call a tool with callMCPTool"
_HTTP = f"{_NETWORK}, or await http.get(url) for hosts that the user allows"
_TABLES = (
    'await analyze(rows, steps) filters, groups, joins and sums tables natively, also analyze(file="sales.csv", ...); '
    "for numbers use statistics, math or sqlite3"
)
_PROCESSES = "the sandbox has no processes; use asyncio.gather for parallel tool calls"
_MARKUP = "use html.parser or xml.etree.ElementTree"
_MODELS = "use dataclasses, or plain dicts"
_DISPLAY = "the sandbox has no display; return the data as the result"
_IMAGES = "the sandbox has no image library; call a tool with callMCPTool"
_TOOLS = "tools are already functions: from servers.name import tool, or callMCPTool; list_tools() lists them"
_CLOUD = "the sandbox has no credentials or network; call a tool with callMCPTool"

ADVICE = {
    **dict.fromkeys("requests httpx aiohttp urllib3 pycurl".split(), _HTTP),
    **dict.fromkeys(
        "websockets websocket paramiko grpc zmq ssl redis pymongo "
        "psycopg psycopg2 pymysql mysql asyncpg sqlalchemy selenium playwright scrapy".split(),
        _NETWORK,
    ),
    **dict.fromkeys(
        "numpy pandas scipy polars pyarrow sklearn statsmodels duckdb numba dask sympy torch".split(), _TABLES
    ),
    **dict.fromkeys("bs4 lxml html5lib pyquery parsel".split(), _MARKUP),
    **dict.fromkeys("pydantic attrs attr marshmallow cattrs msgspec".split(), _MODELS),
    **dict.fromkeys("matplotlib seaborn plotly tkinter turtle turtledemo idlelib curses webbrowser".split(), _DISPLAY),
    **dict.fromkeys("PIL cv2 skimage imageio wand".split(), _IMAGES),
    **dict.fromkeys(
        "boto3 botocore openai anthropic google googleapiclient slack_sdk github stripe".split(), _CLOUD
    ),
    **dict.fromkeys("mcp fastmcp tools mcp_tools mcp_client".split(), _TOOLS),
    **dict.fromkeys("_posixsubprocess _multiprocessing psutil pexpect sh".split(), _PROCESSES),
    **dict.fromkeys("openpyxl xlsxwriter xlrd docx pypdf PyPDF2 reportlab".split(), "write CSV, JSON or text instead"),
    **dict.fromkeys("orjson ujson simplejson rapidjson".split(), "use json"),
    **dict.fromkeys("toml tomli".split(), "use tomllib"),
    **dict.fromkeys("pytz arrow pendulum".split(), "use datetime, zoneinfo or dateutil"),
    **dict.fromkeys("ruamel oyaml".split(), "use yaml"),
    **dict.fromkeys("regex re2".split(), "use re"),
    **dict.fromkeys(
        "bz2 lzma zstandard compression compression.zstd compression.bz2 compression.lzma".split(),
        "use zlib, gzip or zipfile",
    ),
    **dict.fromkeys(
        "ctypes cffi mmap fcntl pwd grp resource termios pty tty readline syslog".split(),
        "the sandbox has no operating system",
    ),
    **dict.fromkeys("rich colorama termcolor tqdm click typer".split(), "use print; there is no terminal"),
    **dict.fromkeys("jmespath jsonpath".split(), "use jsonpath_ng"),
    **dict.fromkeys(
        "nest_asyncio uvloop anyio trio".split(), "use asyncio; asyncio.run also works inside a running program"
    ),
    "dotenv": "the sandbox has no environment to load; pass values as context variables",
    "multiprocessing": _PROCESSES,
    "subprocess": _PROCESSES,
    **dict.fromkeys(
        "pip ensurepip venv setuptools pkg_resources zipapp".split(), "you can't install packages in the sandbox"
    ),
    **dict.fromkeys("tensorflow keras jax transformers".split(), _TABLES),
    **dict.fromkeys("dbm.gnu dbm.ndbm".split(), "use sqlite3 or dbm.dumb"),
}

# What the native engine has once it was added, and what it is called where packages come from.
NATIVE = {
    **{
        name: name
        for name in "numpy pandas scipy polars pyarrow statsmodels duckdb numba dask sympy torch lxml html5lib matplotlib "
        "seaborn plotly imageio openpyxl xlsxwriter xlrd pypdf pydantic attrs orjson".split()
    },
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "bs4": "beautifulsoup4",
    "PIL": "pillow",
    "cv2": "opencv-python-headless",
    "docx": "python-docx",
}

# Modules that older Pythons had: since which version they are gone, and what to use.
REMOVED = {
    "asynchat": ("3.12", "asyncio"),
    "asyncore": ("3.12", "asyncio"),
    "binhex": ("3.11", "binascii"),
    "cgi": ("3.13", "urllib.parse, email or html"),
    "cgitb": ("3.13", "traceback"),
    "chunk": ("3.13", "struct"),
    "crypt": ("3.13", "hashlib"),
    "distutils": ("3.12", "shutil; distutils.util.strtobool is text.lower() in ('1', 'true', 'yes')"),
    "dummy_threading": ("3.9", "threading"),
    "formatter": ("3.10", "textwrap"),
    "imghdr": ("3.13", "the first bytes of the file"),
    "imp": ("3.12", "importlib"),
    "lib2to3": ("3.13", "ast"),
    "mailcap": ("3.13", "mimetypes"),
    "nntplib": ("3.13", "a tool"),
    "parser": ("3.10", "ast"),
    "pipes": ("3.13", "shlex"),
    "smtpd": ("3.12", "a tool"),
    "sndhdr": ("3.13", "wave"),
    "symbol": ("3.10", "ast"),
    "telnetlib": ("3.13", "a tool"),
    "uu": ("3.13", "base64 or binascii"),
    "xdrlib": ("3.13", "struct"),
    **dict.fromkeys("aifc audioop msilib nis ossaudiodev spwd sunau".split(), ("3.13", None)),
    # Names of Python 2.
    "ConfigParser": ("3.0", "configparser"),
    "HTMLParser": ("3.0", "html.parser"),
    "Queue": ("3.0", "queue"),
    "StringIO": ("3.0", "io.StringIO"),
    "cPickle": ("3.0", "pickle"),
    "cStringIO": ("3.0", "io.StringIO"),
    "commands": ("3.0", "a tool"),
    "httplib": ("3.0", "a tool"),
    "sets": ("3.0", "set"),
    "urllib2": ("3.0", "a tool, or urllib.parse for addresses"),
    "urlparse": ("3.0", "urllib.parse"),
}

# Parts in C that are absent, and the modules that a program writes to get them.
PUBLIC_NAMES = {
    "_bz2": "bz2",
    "_lzma": "lzma",
    "_zstd": "compression.zstd",
    "_ssl": "ssl",
    "_ctypes": "ctypes",
    "_curses": "curses",
    "_curses_panel": "curses.panel",
    "_tkinter": "tkinter",
    "_gdbm": "dbm.gnu",
    "_dbm": "dbm.ndbm",
    "_posixshmem": "multiprocessing.shared_memory",
}

# What brings other packages, as long as they are Python alone.
ADDED_BY = "; the user can add others in pure Python: `gristmill python add --wasm {}`"

BUNDLED = ("dateutil", "jsonpath_ng", "sortedcontainers", "tabulate", "tzdata", "yaml")
IMPORT_NAMES = {"pyyaml": "yaml", "python_dateutil": "dateutil", "jsonpath-ng": "jsonpath_ng", "PyYAML": "yaml"}


class ExplainingFinder:
    """Last on sys.meta_path: turns "No module named x" into something to act on."""

    def __init__(self, known_modules):
        self._known = known_modules

    def find_spec(self, fullname, path=None, target=None):
        if _only_asking(sys._getframe(1)):
            return None
        public = PUBLIC_NAMES.get(fullname, fullname)
        # `from compression import zstd` swallows an error that carries the very name it looks for.
        raise ModuleNotFoundError(self.message(public), name=fullname if "." in public else public)

    def invalidate_caches(self):
        pass

    def message(self, fullname):
        top, _, rest = fullname.partition(".")
        text = f"No module named '{fullname}'"
        # Only without a tree does the search for the module come here.
        if top == "servers":
            return f"{text}: {tool_imports.NO_SERVERS}"
        if top in REMOVED and top not in self._known:
            return f"{text}: {_since(*REMOVED[top])}"
        advice = ADVICE.get(fullname) or ADVICE.get(top)
        if top in sys.stdlib_module_names and (not rest or top not in self._known or fullname in ADVICE):
            return f"{text}: it isn't part of this build" + (f"; {advice}" if advice else "")
        if advice and not (rest and top in self._known):
            added = f"; the native engine has it after `gristmill python add {NATIVE[top]}`" if top in NATIVE else ""
            return f"{text}: {advice}{added}"
        close = self._close(fullname)
        if close:
            return f"{text}; did you mean {close}?"
        if rest:
            return text
        return f"{text}; the sandbox has the standard library and {', '.join(BUNDLED)}{ADDED_BY.format(fullname)}"

    def _close(self, fullname):
        if fullname in IMPORT_NAMES:
            return f"'{IMPORT_NAMES[fullname]}'"
        depth = fullname.count(".")
        names = [n for n in self._known if n.count(".") == depth and not n.startswith("_")]
        near = difflib.get_close_matches(fullname, names, 1, 0.8)
        if not near:
            near = [n for n in names if n.casefold() == fullname.casefold()]
        return f"'{near[0]}'" if near else None


def _since(version, instead):
    gone = f"it was removed in Python {version}"
    return f"{gone}; use {instead}" if instead else f"{gone}; the sandbox has no replacement"


def _only_asking(frame):
    """Whether importlib.util.find_spec or pkgutil asks, who want None for an answer."""
    for _ in range(6):
        if frame is None:
            return False
        name = frame.f_code.co_filename
        if frame.f_code.co_name == "find_spec" and name.endswith("importlib/util.py"):
            return True
        if name.endswith("pkgutil.py") or name == "<frozen importlib.util>":
            return True
        frame = frame.f_back
    return False
