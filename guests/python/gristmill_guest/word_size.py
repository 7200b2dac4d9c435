"""What a 64-bit Python shows, on an interpreter of 32 bits.

Programs use `sys.maxsize` as a number that no value exceeds, so it is that of a 64-bit Python. Lengths and counts
that C takes still end at 2**31 - 1; the library's own use of `sys.maxsize` as a count gets that.
"""

import csv
import importlib
import sys
import types

MAXSIZE = 2**63 - 1
COUNT_MAX = sys.maxsize

# Modules that pass sys.maxsize on to C as a count.
_COUNTING = ("compression._common._streams", "_compression")

_csv_limit = csv.field_size_limit


def field_size_limit(*limit):
    """csv.field_size_limit, for which `sys.maxsize` means no limit."""
    if len(limit) == 1 and type(limit[0]) is int and COUNT_MAX < limit[0] <= MAXSIZE:
        limit = (COUNT_MAX,)
    return _csv_limit(*limit)


def install():
    """Done once, when the image is built, after the library is imported."""
    counting = types.SimpleNamespace(maxsize=COUNT_MAX)
    for name in _COUNTING:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        module.sys = counting
    field_size_limit.__module__ = "csv"
    csv.field_size_limit = field_size_limit
    sys.maxsize = MAXSIZE
