"""From any Python value to JSON text, within limits.

One pass writes the text and counts its UTF-8 bytes, so a giant value stops early. The
value may be hostile: types are taken from `type()`, never from `__class__`; built-in
types and their subclasses are read through the built-in methods; every call into the
program's own code (`__repr__`, iterators, mappings) is guarded and its output cut.
"""

import collections.abc
import datetime
import decimal
import enum
import fractions
import pathlib
import types
import uuid

from gristmill_guest import encoding, foreign, result_files

GENERATOR_ITEMS_MAX = 10_000
REPR_CHARS_MAX = 500
# 4300 decimal digits, Python's own bound on int-to-text.
INT_BITS_MAX = 14_285
PATH_CHARS_MAX = 120
PATH_STEPS_MAX = 60
# What stands for bytes is an object in an object.
FILE_LEVELS = 2
# Below this depth every Python frame of the writer still fits the guest's stack.
DEPTH_HARD_MAX = 200

_quote = encoding.quote
_int_repr = int.__repr__
_float_repr = float.__repr__
_infinity = float("inf")


_LEAF_TYPES = frozenset((int, float, bool, type(None)))


class ResultLimit(Exception):
    """The value does not fit. `name` is the limit's name, `value` its size."""

    def __init__(self, name, value, message):
        super().__init__(message)
        self.name = name
        self.value = value


def to_json(value, notes, bytes_max, depth_max):
    """JSON text of the value. Adds a note for whatever is not carried over exactly."""
    return "".join(written(value, notes, bytes_max, depth_max).parts)


def written(value, notes, bytes_max, depth_max, large_bytes_max=0):
    """The same in `parts`, with the size as `bytes_used`. It may be larger than bytes_max, up to large_bytes_max."""
    writer = _Writer(notes, bytes_max, min(depth_max, DEPTH_HARD_MAX), max(bytes_max, large_bytes_max))
    writer.write(value, 1)
    return writer


class _Writer:
    def __init__(self, notes, bytes_max, depth_max, large_bytes_max):
        self.parts = []
        self._notes = notes
        self._bytes_max = large_bytes_max
        self._bytes_left = large_bytes_max
        # What only a large result has room for.
        self._bytes_extra = large_bytes_max - bytes_max
        self._depth_max = depth_max
        self._open = {}
        self._images = result_files.ToolImages()
        # Keys and indexes on the way here; turned into text only when something is said.
        self._path = []

    @property
    def bytes_used(self):
        return self._bytes_max - self._bytes_left

    # Output.

    def _put(self, text):
        self._bytes_left -= len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if self._bytes_left < 0:
            raise self._too_large()
        self.parts.append(text)

    def _too_large(self):
        said = f"the result is larger than {_size(self._bytes_max)} as JSON (reached at {self._where()})"
        name = "large_result_bytes" if self._bytes_extra else "result_bytes"
        return ResultLimit(name, self._bytes_max, said)

    def _put_text(self, text):
        # A string takes at least one byte for each character: do not escape a giant first.
        if len(text) > self._bytes_left:
            raise self._too_large()
        self._put(_quote(text))

    def _where(self, steps=None):
        """The place being written, or with `steps` an earlier place on the way to it."""
        path = "result" + "".join(_step(step) for step in self._path[:steps][:PATH_STEPS_MAX])
        return path if len(path) <= PATH_CHARS_MAX else path[:PATH_CHARS_MAX] + "\u2026"

    def _note(self, text):
        self._notes.add(text)

    # Dispatch.

    def write(self, value, depth):
        kind = type(value)
        if value is None:
            self._put("null")
        elif kind is str:
            self._put_text(value)
        elif kind is bool:
            self._put("true" if value else "false")
        elif kind is int:
            self._int(value)
        elif kind is float:
            self._float(value)
        elif kind is dict:
            self._container(value, depth, self._mapping, value.items())
        elif kind is list:
            self._container(value, depth, self._sequence, value)
        else:
            self._other(value, kind, depth)

    def _other(self, value, kind, depth):
        for known, write in _SCALARS:
            if issubclass(kind, known):
                write(self, value)
                return
        if issubclass(kind, enum.Enum):
            self.write(foreign.enum_value(value), depth)
        elif issubclass(kind, dict):
            self._container(value, depth, self._mapping, foreign.dict_items(value, kind))
        elif issubclass(kind, tuple) and foreign.field_names(kind):
            pairs = zip(foreign.field_names(kind), tuple.__iter__(value))
            self._container(value, depth, self._mapping, pairs)
        elif (reader := foreign.sequence_reader(kind)) is not None:
            self._container(value, depth, self._sequence, reader(value))
        elif issubclass(kind, (set, frozenset)):
            self._container(value, depth, self._sequence, foreign.ordered(value))
        elif foreign.is_dataclass(kind):
            self._container(value, depth, self._mapping, foreign.dataclass_items(value, kind))
        elif issubclass(kind, collections.abc.Coroutine):
            # That nobody awaited it is an error of its own.
            self._put_text(foreign.cut(foreign.safe_text(repr, value), REPR_CHARS_MAX))
        elif issubclass(kind, types.GeneratorType):
            self._container(value, depth, self._sequence, self._generator_items(value))
        elif issubclass(kind, BaseException):
            self._put_text(foreign.cut(f"{kind.__name__}: {foreign.safe_text(str, value)}", 2000))
        elif foreign.is_iterator(kind):
            self._container(value, depth, self._sequence, self._generator_items(value))
        elif (pairs := foreign.mapping_items(value, kind)) is not None:
            self._container(value, depth, self._mapping, pairs)
        elif (items := foreign.sequence_items(value, kind)) is not None:
            self._container(value, depth, self._sequence, items)
        else:
            self._note(f"{self._where()} is of type {foreign.type_name(kind)}; its repr is shown")
            self._put_text(foreign.cut(foreign.safe_text(repr, value), REPR_CHARS_MAX))

    # Scalars.

    def _int(self, value):
        value = int.__int__(value)
        bits = int.bit_length(value)
        digits = _digits(value, bits)
        if digits is None:
            self._note(f"{self._where()} is an integer of {bits} bits, so it isn't written out")
            digits = f'"<integer of {bits} bits>"'
        self._put(digits)

    def _float(self, value):
        number = float.__float__(value)
        if number != number or number == _infinity or number == -_infinity:
            self._note("NaN and Infinity are not JSON; they are written as text")
            self._put('"NaN"' if number != number else '"Infinity"' if number > 0 else '"-Infinity"')
        else:
            self._put(_float_repr(number))

    def _str(self, value):
        self._put_text(str.__str__(value))

    def _bytes(self, value):
        data = bytes(memoryview(value))
        if len(data) > self._bytes_left:
            raise self._too_large()
        try:
            self._put_text(data.decode("utf-8"))
        except UnicodeDecodeError:
            self._check_depth(len(self._path) + FILE_LEVELS)
            self._put(f'{{"{result_files.MARK}": {result_files.marked(data)}}}')

    def _iso(self, value):
        self._put_text(foreign.safe_text(foreign.plain_iso, value))

    def _timedelta(self, value):
        seconds = datetime.timedelta.total_seconds(value)
        self._float(seconds) if seconds % 1 else self._int(int(seconds))

    def _as_text(self, value):
        self._put_text(foreign.cut(foreign.safe_text(str, value), 10_000))

    # Containers.

    def _container(self, value, depth, write_members, members):
        if id(value) in self._open:
            first = self._where(steps=self._open[id(value)])
            self._note(f"{self._where()} refers back to {first}; the cycle is cut")
            self._put('"<cycle>"')
            return
        self._check_depth(depth)
        leaf = self._leaf(value, depth)
        if leaf is not None:
            self._put(leaf)
            return
        self._open[id(value)] = len(self._path)
        write_members(members, depth)
        del self._open[id(value)]

    def _check_depth(self, depth):
        if depth > self._depth_max:
            raise ResultLimit(
                "result_depth",
                self._depth_max,
                f"the result is nested deeper than {self._depth_max} levels (at {self._where()})",
            )

    def _leaf(self, value, depth):
        """The text of a list or dict of plain scalars, made at C speed; None for anything else.

        Most of a large result is rows like that. What might not fit is left to the slow
        way, which stops at the limit.
        """
        kind = type(value)
        if kind is not list and kind is not dict:
            return None
        size = 2 * len(value)
        if size > self._bytes_left:
            return None
        members = value
        if kind is dict:
            if len(value) == result_files.MEMBERS and depth < self._depth_max:
                image = self._images.text_of(value, self._bytes_left - self._bytes_extra)
                if image is not None:
                    return image
            for key in value:
                if type(key) is not str:
                    return None
                size += len(key)
            members = value.values()
        for member in members:
            kind = type(member)
            if kind is str:
                size += len(member)
            elif kind not in _LEAF_TYPES:
                return None
        if size > self._bytes_left:
            return None
        return encoding.plain_text(value)

    def _mapping(self, pairs, depth):
        self._put("{")
        separator = ""
        seen = set()
        path = self._path
        path.append("")
        for key, item in foreign.members_of(pairs, self._broken):
            text = key if type(key) is str else self._key(key)
            if text in seen:
                self._note(f'{self._where(steps=-1)} has two keys that are both "{foreign.cut(text, 40)}" in JSON')
            seen.add(text)
            path[-1] = text
            if len(text) > self._bytes_left:
                raise self._too_large()
            self._put(f"{separator}{_quote(text)}: ")
            self.write(item, depth + 1)
            separator = ", "
        path.pop()
        self._put("}")

    def _sequence(self, items, depth):
        self._put("[")
        index = 0
        path = self._path
        path.append(0)
        for item in foreign.members_of(items, self._broken):
            if index:
                self._put(", ")
                path[-1] = index
            self.write(item, depth + 1)
            index += 1
        path.pop()
        self._put("]")

    def _key(self, key):
        kind = type(key)
        if kind is str:
            return key
        if key is None:
            return "null"
        if kind is bool:
            return "true" if key else "false"
        if issubclass(kind, enum.Enum):
            return (
                self._key(foreign.enum_value(key))
                if not issubclass(type(foreign.enum_value(key)), enum.Enum)
                else foreign.safe_text(str, key)
            )
        if issubclass(kind, str):
            return str.__str__(key)
        if issubclass(kind, int):
            number = int.__int__(key)
            bits = int.bit_length(number)
            return _digits(number, bits) or f"<integer of {bits} bits>"
        if issubclass(kind, float):
            return _float_repr(float.__float__(key))
        if issubclass(kind, (datetime.date, datetime.time)):
            return foreign.safe_text(foreign.plain_iso, key)
        return foreign.cut(foreign.safe_text(str, key), REPR_CHARS_MAX)

    def _generator_items(self, value):
        count = 0
        for item in value:
            if count >= GENERATOR_ITEMS_MAX:
                self._note(
                    f"{self._where(steps=-1)} is an iterator; only its first {GENERATOR_ITEMS_MAX} items are shown"
                )
                return
            count += 1
            yield item

    def _broken(self, error):
        message = foreign.cut(foreign.safe_text(str, error), 100)
        self._note(f"{self._where(steps=-1)} couldn't be read to the end: {type(error).__name__}: {message}")


_SCALARS = (
    (str, _Writer._str),
    (int, _Writer._int),
    (float, _Writer._float),
    ((bytes, bytearray, memoryview), _Writer._bytes),
    ((datetime.date, datetime.time), _Writer._iso),
    (datetime.timedelta, _Writer._timedelta),
    ((decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath), _Writer._as_text),
)


def _digits(number, bits):
    if bits > INT_BITS_MAX:
        return None
    try:
        return _int_repr(number)
    except ValueError:
        return None


def _size(count):
    return f"{count >> 20} MB" if count >= 1 << 20 and not count % (1 << 20) else f"{count:,} bytes"


def _step(step):
    if type(step) is int:
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{foreign.cut(step, 40)!r}]"
