"""Looks for planted values in bytes: as they are, and as JSON, base64, percent-encoding, hex and digits write them."""

import base64
import json
import sqlite3
import zlib
from collections import Counter, defaultdict
from urllib.parse import quote

# Each form of a value has at least GRAM + STRIDE - 1 bytes, so that one of its first grams lies where is looked.
GRAM, STRIDE = 7, 4


class Needles:
    """All forms of all values, to be found in one pass."""

    def __init__(self, people):
        self.by_gram = defaultdict(set)
        self.kinds = {}
        for person in people:
            for kind, value in person.items():
                self.kinds[value] = kind
                for form in forms(value):
                    for at in range(STRIDE):
                        self.by_gram[form[at : at + GRAM]].add((at, form, value))
        self.by_gram = dict(self.by_gram)

    def find(self, data):
        """The values that are in these bytes, in whichever form."""
        found, by_gram = set(), self.by_gram
        for at in range(0, len(data) - GRAM + 1, STRIDE):
            for before, form, value in by_gram.get(data[at : at + GRAM], ()):
                if value not in found and at >= before and data.startswith(form, at - before):
                    found.add(value)
        return found


def forms(value):
    plain = value.encode()
    digits = "".join(letter for letter in value if letter.isdigit()).encode()
    found = {plain, plain.hex().encode(), plain.hex().upper().encode(), plain.decode().encode("utf-16-le")}
    found.add(json.dumps(json.dumps(value))[3:-3].encode())
    found.add(quote(value, safe="").encode())
    found.add("".join(f"%{byte:02X}" for byte in plain).encode())
    found.add(plain.replace(b"/", b"\\/"))
    found.update(in_base64(plain))
    # Numbers are numbers without their blanks and hyphens, too; an address on the net or a date isn't.
    if len(digits) >= 11 and len(digits) > len(plain) - 5 and b"." not in plain:
        found.add(digits)
    return {form for form in found if len(form) >= GRAM + STRIDE - 1}


def in_base64(plain):
    """What is always there of it, at each of the three places that it may begin at."""
    for before in range(3):
        packed = base64.b64encode(b"\0" * before + plain)
        first = -(-before * 8 // 6)
        last = (before + len(plain)) * 8 // 6
        yield packed[first:last]
        yield packed[first:last].translate(bytes.maketrans(b"+/", b"-_"))


class Found:
    """Which values lie where."""

    def __init__(self):
        self.places = defaultdict(set)

    def add(self, place, values):
        self.places[place] |= values

    def count(self):
        return len(set().union(*self.places.values())) if self.places else 0

    def table(self, kinds, title):
        lines = [title]
        for place in sorted(self.places):
            by_kind = Counter(kinds[value] for value in self.places[place])
            told = ", ".join(f"{kind} {count}" for kind, count in sorted(by_kind.items())) or "-"
            lines.append(f"  {place:<44}{len(self.places[place]):>6}  {told}")
        return "\n".join(lines)


def pieces(path):
    """A file's bytes, and what is in it once it is unpacked."""
    data = path.read_bytes()
    yield data
    if data[:2] in (b"\x1f\x8b", b"\x78\x9c", b"\x78\xda", b"\x78\x01"):
        try:
            yield zlib.decompress(data, 47)
        except zlib.error:
            pass


def table_rows(database):
    """Each table of a database with all that its rows hold, JSON's escapes undone."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        opened.text_factory = bytes
        names = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            cells = []
            for row in opened.execute(f'SELECT * FROM "{name.decode()}"'):
                for cell in row:
                    if isinstance(cell, bytes):
                        cells += [cell, unescaped(cell)]
            yield name.decode(), b"\n".join(cells)


def unescaped(cell):
    try:
        value = json.loads(cell)
    except ValueError:
        return b""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
