//! Names that a skill cannot have: they mean something else to whoever reads a program.
//!
//! A skill is imported as `skills.<name>` and hides nothing by itself; but `from skills.json import *`
//! beside `import json` would be read wrongly, by people and by models.

/// Modules of the standard library and of the bundled packages. Folded.
pub(super) const MODULES: &str = "\
    abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 \
    bdb binascii bisect builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop collections \
    colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg cprofile \
    crypt csv ctypes curses dataclasses datetime dateutil dbm decimal difflib dis distutils doctest email \
    encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools \
    gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib \
    imaplib imghdr imp importlib inspect io ipaddress itertools json jsonpathng keyword lib2to3 linecache \
    locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt \
    multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev \
    pathlib pdb pickle pickletools pipes pkgutil platform plistlib ply poplib posix posixpath pprint \
    profile pstats pty pwd pyclbr pycompile pydoc pydocdata pyexpat queue quopri random re readline reprlib \
    resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site six smtpd \
    smtplib sndhdr socket socketserver sortedcontainers spwd sqlite3 srecompile sreconstants sreparse ssl \
    stat statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny \
    tabulate tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token tokenize \
    tomllib trace traceback tracemalloc tty turtle turtledemo types typing tzdata unicodedata unittest \
    urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc yaml \
    zipapp zipfile zipimport zlib zoneinfo";

/// What Python has built in. Folded.
pub(super) const BUILT_INS: &str = "\
    abs aiter all anext any arithmeticerror ascii assertionerror attributeerror baseexception \
    baseexceptiongroup bin blockingioerror bool breakpoint brokenpipeerror buffererror bytearray bytes \
    byteswarning callable childprocesserror chr classmethod compile complex connectionabortederror \
    connectionerror connectionrefusederror connectionreseterror copyright credits delattr \
    deprecationwarning dict dir divmod ellipsis encodingwarning enumerate environmenterror eoferror eval \
    exception exceptiongroup exec exit false fileexistserror filenotfounderror filter float \
    floatingpointerror format frozenset futurewarning generatorexit getattr globals hasattr hash help hex \
    id importerror importwarning indentationerror indexerror input int interruptederror ioerror \
    isadirectoryerror isinstance issubclass iter keyboardinterrupt keyerror len license list locals \
    lookuperror map max memoryerror memoryview min modulenotfounderror nameerror next none \
    notadirectoryerror notimplemented notimplementederror object oct open ord oserror overflowerror \
    pendingdeprecationwarning permissionerror pow print processlookuperror property pythonfinalizationerror \
    quit range recursionerror referenceerror repr resourcewarning reversed round runtimeerror \
    runtimewarning set setattr slice sorted staticmethod stopasynciteration stopiteration str sum super \
    syntaxerror syntaxwarning systemerror systemexit taberror timeouterror true tuple type typeerror \
    unboundlocalerror unicodedecodeerror unicodeencodeerror unicodeerror unicodetranslateerror \
    unicodewarning userwarning valueerror vars warning zerodivisionerror zip";

/// What every program finds, or may find, under its own name. Folded.
pub(super) const HELPERS: &str = "\
    analysiserror analyze bytesio callmcptool componentizepyruntime context counter dataclass deepcopy \
    defaultdict deleteskill deque describetool executeanalysis fraction getexecutionstats gettoolcode \
    gettooldefinition gristmill gristmillguest listdirectory listservers listskills listtools \
    listworkspacefiles loadskill lrucache main namedtuple optional ordereddict partial path privacy program \
    readfile readresource readresult readworkspacefile reduce reset restorepii result sanitizepii saveskill \
    searchtools servers skills state stateerror stringio timedelta timezone toolerror toolhit toolhits toolstub union witworld workspace \
    writefile writeworkspacefile";
