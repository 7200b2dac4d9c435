"""From any Python value to JSON text, within limits.

One pass writes the text and counts its UTF-8 bytes, so a giant value stops early. The
value may be hostile: types are taken from `type()`, never from `__class__`; built-in
types and their subclasses are read through the built-in methods; every call into the
program's own code (`__repr__`, iterators, mappings) is guarded and its output cut.
"""

import base64
import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import itertools
import pathlib
import types
import uuid

from gristmill_guest import encoding

GENERATOR_ITEMS_MAX = 10_000
REPR_CHARS_MAX = 500
# 4300 decimal digits, Python's own bound on int-to-text.
INT_BITS_MAX = 14_285
PATH_CHARS_MAX = 120
PATH_STEPS_MAX = 60
# Below this depth every Python frame of the writer still fits the guest's stack.
DEPTH_HARD_MAX = 200

_quote = encoding.quote
_int_repr = int.__repr__
_float_repr = float.__repr__
_infinity = float("inf")


class ResultLimit(Exception):
    """The value does not fit. `name` is the limit's name, `value` its size."""

    def __init__(self, name, value, message):
        super().__init__(message)
        self.name = name
        self.value = value


def to_json(value, notes, bytes_max, depth_max):
    """JSON text of the value. Adds a note for whatever is not carried over exactly."""
    writer = _Writer(notes, bytes_max, min(depth_max, DEPTH_HARD_MAX))
    writer.write(value, 1)
    return "".join(writer.parts)


class _Writer:
    def __init__(self, notes, bytes_max, depth_max):
        self.parts = []
        self._notes = notes
        self._bytes_max = bytes_max
        self._bytes_left = bytes_max
        self._depth_max = depth_max
        self._open = {}
        # Keys and indexes on the way here; turned into text only when something is said.
        self._path = []

    # Output.

    def _put(self, text):
        self._bytes_left -= len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if self._bytes_left < 0:
            raise ResultLimit(
                "result_bytes",
                self._bytes_max,
                f"the result is larger than {self._bytes_max} bytes of JSON (it stopped at {self._where()})",
            )
        self.parts.append(text)

    def _put_text(self, text):
        # A string takes at least one byte for each character: do not escape a giant first.
        if len(text) > self._bytes_left:
            self._put(text)
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
            self.write(_enum_value(value), depth)
        elif issubclass(kind, dict):
            items = collections.OrderedDict.items if issubclass(kind, collections.OrderedDict) else dict.items
            self._container(value, depth, self._mapping, items(value))
        elif issubclass(kind, tuple) and _field_names(kind):
            pairs = zip(_field_names(kind), tuple.__iter__(value))
            self._container(value, depth, self._mapping, pairs)
        elif (reader := _sequence_reader(kind)) is not None:
            self._container(value, depth, self._sequence, reader(value))
        elif issubclass(kind, (set, frozenset)):
            self._container(value, depth, self._sequence, _ordered(value))
        elif _is_dataclass(kind):
            self._container(value, depth, self._mapping, _dataclass_items(value, kind))
        elif issubclass(kind, types.GeneratorType):
            self._container(value, depth, self._sequence, self._generator_items(value))
        elif issubclass(kind, BaseException):
            self._put_text(_cut(f"{kind.__name__}: {_safe(str, value)}", 2000))
        elif _is_iterator(kind):
            self._container(value, depth, self._sequence, self._generator_items(value))
        elif (pairs := _foreign_mapping_items(value, kind)) is not None:
            self._container(value, depth, self._mapping, pairs)
        elif (items := _foreign_sequence_items(value, kind)) is not None:
            self._container(value, depth, self._sequence, items)
        else:
            self._note(f"{self._where()} is of type {_type_name(kind)}; its repr is shown")
            self._put_text(_cut(_safe(repr, value), REPR_CHARS_MAX))

    # Scalars.

    def _int(self, value):
        value = int.__int__(value)
        bits = int.bit_length(value)
        digits = _digits(value, bits)
        if digits is None:
            self._note(f"{self._where()} is an integer of {bits} bits; it is not written out")
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
            self._put("?" * (self._bytes_left + 1))
        try:
            self._put_text(data.decode("utf-8"))
        except UnicodeDecodeError:
            self._put('{"base64": "' + base64.b64encode(data).decode("ascii") + '"}')

    def _iso(self, value):
        self._put_text(_safe(_plain_iso, value))

    def _timedelta(self, value):
        seconds = datetime.timedelta.total_seconds(value)
        self._float(seconds) if seconds % 1 else self._int(int(seconds))

    def _as_text(self, value):
        self._put_text(_cut(_safe(str, value), 10_000))

    # Containers.

    def _container(self, value, depth, write_members, members):
        if id(value) in self._open:
            first = self._where(steps=self._open[id(value)])
            self._note(f"{self._where()} refers back to {first}; the cycle is cut")
            self._put('"<cycle>"')
            return
        if depth > self._depth_max:
            raise ResultLimit(
                "result_depth",
                self._depth_max,
                f"the result is nested deeper than {self._depth_max} levels (at {self._where()})",
            )
        self._open[id(value)] = len(self._path)
        write_members(members, depth)
        del self._open[id(value)]

    def _mapping(self, pairs, depth):
        self._put("{")
        separator = ""
        seen = set()
        path = self._path
        path.append("")
        for key, item in _guarded(pairs, self._broken):
            text = key if type(key) is str else self._key(key)
            if text in seen:
                self._note(f'{self._where(steps=-1)} has two keys that are both "{_cut(text, 40)}" in JSON')
            seen.add(text)
            path[-1] = text
            if len(text) > self._bytes_left:
                self._put(text)
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
        for item in _guarded(items, self._broken):
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
            return self._key(_enum_value(key)) if not issubclass(type(_enum_value(key)), enum.Enum) else _safe(str, key)
        if issubclass(kind, str):
            return str.__str__(key)
        if issubclass(kind, int):
            number = int.__int__(key)
            bits = int.bit_length(number)
            return _digits(number, bits) or f"<integer of {bits} bits>"
        if issubclass(kind, float):
            return _float_repr(float.__float__(key))
        if issubclass(kind, (datetime.date, datetime.time)):
            return _safe(_plain_iso, key)
        return _cut(_safe(str, key), REPR_CHARS_MAX)

    def _generator_items(self, value):
        count = 0
        for item in value:
            if count >= GENERATOR_ITEMS_MAX:
                self._note(f"{self._where(steps=-1)} is an iterator; only its first {GENERATOR_ITEMS_MAX} items are shown")
                return
            count += 1
            yield item

    def _broken(self, error):
        self._note(f"{self._where(steps=-1)} could not be read to its end: {type(error).__name__}: {_cut(_safe(str, error), 100)}")


_SCALARS = (
    (str, _Writer._str),
    (int, _Writer._int),
    (float, _Writer._float),
    ((bytes, bytearray, memoryview), _Writer._bytes),
    ((datetime.date, datetime.time), _Writer._iso),
    (datetime.timedelta, _Writer._timedelta),
    ((decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath), _Writer._as_text),
)

_READERS = (
    (list, list.__iter__),
    (tuple, tuple.__iter__),
    (collections.deque, collections.deque.__iter__),
    (range, range.__iter__),
    (type({}.keys()), iter),
    (type({}.values()), iter),
    (type({}.items()), iter),
    (type(collections.OrderedDict().keys()), iter),
    (type(collections.OrderedDict().values()), iter),
    (type(collections.OrderedDict().items()), iter),
)


_DICT_ITEMS = type({}.items())


def _sequence_reader(kind):
    for known, reader in _READERS:
        if issubclass(kind, known):
            return reader
    return None


def _guarded(members, broken):
    """The members up to the first error that the program's own code raises while iterating."""
    kind = type(members)
    # Copied at C speed, and safe from a repr that changes the container it is in.
    if kind is list or kind is _DICT_ITEMS:
        return list(members)
    return _guarded_steps(members, broken)


def _guarded_steps(members, broken):
    try:
        iterator = iter(members)
    except Exception as error:
        broken(error)
        return
    while True:
        try:
            member = next(iterator)
        except StopIteration:
            return
        except Exception as error:
            broken(error)
            return
        yield member


def _ordered(values):
    reader = set.__iter__ if issubclass(type(values), set) else frozenset.__iter__
    items = list(reader(values))
    try:
        return sorted(items)
    except Exception:
        pass
    try:
        return sorted(items, key=lambda item: (type(item).__name__, _cut(_safe(repr, item), 100)))
    except Exception:
        return items


def _field_names(kind):
    names = kind.__dict__.get("_fields")
    for base in kind.__mro__:
        names = base.__dict__.get("_fields") if names is None else names
    if type(names) is tuple and names and all(type(name) is str for name in names):
        return names
    return None


def _digits(number, bits):
    if bits > INT_BITS_MAX:
        return None
    try:
        return _int_repr(number)
    except ValueError:
        return None


def _is_dataclass(kind):
    return any(type(base.__dict__.get("__dataclass_fields__")) is dict for base in kind.__mro__)


def _dataclass_items(value, kind):
    for field in dataclasses.fields(kind):
        try:
            yield field.name, getattr(value, field.name)
        except AttributeError:
            continue


def _enum_value(value):
    try:
        return object.__getattribute__(value, "_value_")
    except AttributeError:
        return None


def _is_iterator(kind):
    return isinstance(kind.__dict__.get("__next__"), (types.WrapperDescriptorType, types.FunctionType)) and any(
        "__iter__" in base.__dict__ for base in kind.__mro__
    )


def _foreign_mapping_items(value, kind):
    try:
        if not issubclass(kind, collections.abc.Mapping):
            return None
    except Exception:
        return None
    return ((key, value[key]) for key in itertools.islice(value, 1_000_000))


def _foreign_sequence_items(value, kind):
    try:
        if not issubclass(kind, (collections.abc.Sequence, collections.abc.Set)):
            return None
    except Exception:
        return None
    return itertools.islice(value, 1_000_000)


def _step(step):
    if type(step) is int:
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{_cut(step, 40)!r}]"


def _plain_iso(value):
    for base in (datetime.datetime, datetime.date, datetime.time):
        if issubclass(type(value), base):
            return base.isoformat(value)
    raise TypeError("not a date")


def _type_name(kind):
    return _cut(_safe(lambda: str.__str__(type.__dict__["__name__"].__get__(kind))), 60)


def _safe(function, *args):
    """Text from the program's own code, or a stand-in when that code fails."""
    try:
        text = function(*args)
        return str.__str__(text) if issubclass(type(text), str) else "<not text>"
    except Exception as error:
        return f"<unprintable: {type(error).__name__}>"


def _cut(text, chars_max):
    return text if len(text) <= chars_max else text[: chars_max - 1] + "\u2026"
