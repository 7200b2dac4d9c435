"""JSON in and out, on private references: a program that patches `json` patches its own copy.

Output is always strict: no NaN, no lone surrogate.
"""

import collections.abc
import json.decoder
import json.encoder
import re

ARGUMENTS_DEPTH_MAX = 200

_quote_c = json.encoder.encode_basestring
# markers, default, encoder, indent, separators, sort_keys, skipkeys, allow_nan
_encode_c = json.encoder.c_make_encoder(None, repr, _quote_c, None, ": ", ", ", False, False, False)
_scan = json.decoder.JSONDecoder().scan_once
_surrogate = re.compile("[\ud800-\udfff]")
_spaces = " \t\n\r"
_int_repr = int.__repr__
_float_repr = float.__repr__
_infinity = float("inf")


def quote(text):
    """A JSON string literal. Lone surrogates become U+FFFD."""
    quoted = _quote_c(text)
    if not quoted.isascii() and _surrogate.search(quoted):
        quoted = _surrogate.sub("\ufffd", quoted)
    return quoted


def plain_text(value):
    """JSON of exact built-in data at C speed; None when it holds what strict JSON cannot."""
    try:
        text = "".join(_encode_c(value, 0))
    except ValueError:
        return None
    return text if text.isascii() else without_surrogates(text)


def without_surrogates(text):
    """The text with U+FFFD in place of lone surrogates, which UTF-8 cannot carry."""
    return _surrogate.sub("\ufffd", text)


def to_json(value):
    """Encodes plain data (dict, list, str, int, float, bool, None) that we built ourselves."""
    parts = []
    _write(value, parts.append)
    return "".join(parts)


def from_json(text):
    """Decodes strict JSON text; ValueError when it is not."""
    start = 0
    while start < len(text) and text[start] in _spaces:
        start += 1
    try:
        value, end = _scan(text, start)
    except StopIteration as stop:
        raise ValueError(f"not JSON at character {stop.value}") from None
    if text[end:].strip(_spaces):
        raise ValueError(f"extra text after the JSON value at character {end}")
    return value


def plain_arguments(arguments):
    """A deep copy of a tool's arguments as plain JSON data; TypeError names the offending path."""
    return _plain(arguments, "arguments", 0)


def plain_value(value, path):
    """The same for one value that is called `path` in messages."""
    return _plain(value, path, 0)


def _plain(value, path, depth):
    kind = type(value)
    if kind is str or value is None or kind is bool or kind is int:
        return value
    if depth > ARGUMENTS_DEPTH_MAX:
        raise TypeError(f"{path} is nested deeper than {ARGUMENTS_DEPTH_MAX} levels (or contains itself)")
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        number = float.__float__(value)
        if number != number or number in (_infinity, -_infinity):
            raise TypeError(f"{path} is {number}, which JSON can't represent")
        return number
    if isinstance(value, collections.abc.Mapping):
        plain = {}
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{path} has the key {_shown(key)} of type {type(key).__name__}; keys must be strings")
            plain[str.__str__(key)] = _plain(value[key], _member(path, key), depth + 1)
        return plain
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    name = type(value).__name__
    article = "an" if name[:1].lower() in tuple("aeio") else "a"
    raise TypeError(f"{path} is {article} {name}, which JSON can't represent{_advice(value)}")


def _member(path, key):
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{key!r}]"


def _advice(value):
    if isinstance(value, (set, frozenset)) or hasattr(value, "__next__"):
        return "; pass list(...) of it"
    if hasattr(value, "isoformat"):
        return "; pass its .isoformat()"
    if isinstance(value, (bytes, bytearray)):
        return "; decode it to text first"
    if isinstance(value, collections.abc.Coroutine):
        return "; await it first"
    if hasattr(value, "__dataclass_fields__"):
        return "; pass dataclasses.asdict(...) of it"
    return "; convert it to text, a number, a list or a dict"


def _shown(value):
    try:
        return repr(value)[:60]
    except Exception:
        return "<unprintable>"


def _write(value, put):
    kind = type(value)
    if kind is str:
        put(quote(value))
    elif value is None:
        put("null")
    elif value is True:
        put("true")
    elif value is False:
        put("false")
    elif kind is int:
        put(_int_repr(value))
    elif kind is float:
        put(_float_repr(value))
    elif kind is dict:
        put("{")
        first = True
        for key, item in value.items():
            put(quote(key) if first else "," + quote(key))
            put(":")
            _write(item, put)
            first = False
        put("}")
    elif kind is list:
        put("[")
        first = True
        for item in value:
            if not first:
                put(",")
            _write(item, put)
            first = False
        put("]")
    elif kind is Raw:
        put(value.text)
    else:
        raise TypeError(f"not plain data: {kind.__name__}")


class Raw:
    """Text that is JSON already."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text
