"""Reads values of the program without trusting them.

Types come from `type()`, members through built-in methods, and every call into the
program's own code is guarded.
"""

import collections
import collections.abc
import dataclasses
import datetime
import itertools
import types

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


def sequence_reader(kind):
    for known, reader in _READERS:
        if issubclass(kind, known):
            return reader
    return None


def members_of(members, broken):
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


def dict_items(value, kind):
    """Pairs of a dict subclass, in its own order where it has one (OrderedDict, SortedDict)."""
    if issubclass(kind, collections.OrderedDict):
        return collections.OrderedDict.items(value)
    try:
        if kind.__iter__ is not dict.__iter__:
            keys = list(itertools.islice(iter(value), dict.__len__(value) + 1))
            if len(keys) == dict.__len__(value):
                return [(key, dict.__getitem__(value, key)) for key in keys]
    except Exception:
        pass
    return dict.items(value)


def ordered(values):
    reader = set.__iter__ if issubclass(type(values), set) else frozenset.__iter__
    items = list(reader(values))
    try:
        return sorted(items)
    except Exception:
        pass
    try:
        return sorted(items, key=lambda item: (type(item).__name__, cut(safe_text(repr, item), 100)))
    except Exception:
        return items


def field_names(kind):
    names = kind.__dict__.get("_fields")
    for base in kind.__mro__:
        names = base.__dict__.get("_fields") if names is None else names
    if type(names) is tuple and names and all(type(name) is str for name in names):
        return names
    return None


def is_dataclass(kind):
    return any(type(base.__dict__.get("__dataclass_fields__")) is dict for base in kind.__mro__)


def dataclass_items(value, kind):
    for field in dataclasses.fields(kind):
        try:
            yield field.name, getattr(value, field.name)
        except AttributeError:
            continue


def enum_value(value):
    try:
        return object.__getattribute__(value, "_value_")
    except AttributeError:
        return None


def is_iterator(kind):
    return isinstance(kind.__dict__.get("__next__"), (types.WrapperDescriptorType, types.FunctionType)) and any(
        "__iter__" in base.__dict__ for base in kind.__mro__
    )


def mapping_items(value, kind):
    try:
        if not issubclass(kind, collections.abc.Mapping):
            return None
    except Exception:
        return None
    return ((key, value[key]) for key in itertools.islice(value, 1_000_000))


def sequence_items(value, kind):
    try:
        if not issubclass(kind, (collections.abc.Sequence, collections.abc.Set)):
            return None
    except Exception:
        return None
    return itertools.islice(value, 1_000_000)


def plain_iso(value):
    for base in (datetime.datetime, datetime.date, datetime.time):
        if issubclass(type(value), base):
            return base.isoformat(value)
    raise TypeError("not a date")


def type_name(kind):
    return cut(safe_text(lambda: str.__str__(type.__dict__["__name__"].__get__(kind))), 60)


def safe_text(function, *args):
    """Text from the program's own code, or a stand-in when that code fails."""
    try:
        text = function(*args)
        return str.__str__(text) if issubclass(type(text), str) else "<not text>"
    except Exception as error:
        return f"<unprintable: {type(error).__name__}>"


def cut(text, chars_max):
    return text if len(text) <= chars_max else text[: chars_max - 1] + "\u2026"
