# attack: open a file of the host by its absolute path, in every way Python knows
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import codecs
import fileinput
import io
import linecache
import os
import pathlib
import tokenize

path = "@@CANARY@@"
ways = {
    "open": lambda: open(path).read(),
    "io.FileIO": lambda: io.FileIO(path).read(),
    "io.open_code": lambda: io.open_code(path).read(),
    "os.open": lambda: os.read(os.open(path, os.O_RDONLY), 4096),
    "pathlib": lambda: pathlib.Path(path).read_bytes(),
    "codecs": lambda: codecs.open(path).read(),
    "tokenize": lambda: tokenize.open(path).read(),
    "fileinput": lambda: "".join(fileinput.input([path])),
    "linecache": lambda: linecache.getline(path, 1),
    "bytes path": lambda: open(path.encode()).read(),
    "doubled slashes": lambda: open(path.replace("/", "//./")).read(),
    "without the slash": lambda: open(path.lstrip("/")).read(),
    "helper": lambda: read_file(path),
}
for name, way in ways.items():
    try:
        text = way()
    except Exception as error:
        print(name, type(error).__name__)
    else:
        print(("PW" + "NED: " if text else "empty: ") + name, text)
