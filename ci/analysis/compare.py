"""Runs every case through both engines and compares value by value. See ci/compare_analysis.py."""

import datetime
import decimal
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import pandas
from cases import CASES
from served import Refused, Served

RELATIVE = 1e-9
ABSOLUTE = 1e-12
SHOWN = 5


def main(gristmill, engine, *words):
    began = time.monotonic()
    check_ourselves()
    cases = [case for case in CASES if not words or any(word in case.name for word in words)]
    if not cases:
        raise SystemExit(f"error: no case has any of these words in its name: {' '.join(words)}")
    complaints = []
    with Served(gristmill, engine) as served:
        for case in cases:
            complaints += [f"{case.name}: {complaint}" for complaint in compared(served, case)]
    seconds = time.monotonic() - began
    if complaints:
        print("\n".join(complaints))
        raise SystemExit(f"error: {len(complaints)} complaints in {len(cases)} cases, {seconds:.1f} s")
    print(f"{len(cases)} cases are as pandas {pandas.__version__} has them, {seconds:.1f} s.")


def compared(served, case):
    try:
        ours = case.read(served.analysis(**case.request()))
    except Refused as refused:
        return [f"refused: {refused}"]
    theirs = plain(case.pandas())
    if not case.is_ordered:
        ours, theirs = in_order(ours), in_order(theirs)
    return list(differences(ours, theirs))[:SHOWN]


def plain(value):
    """What pandas gives, as plain values: rows as a list of dicts, a missing value as None."""
    if isinstance(value, pandas.DataFrame):
        columns = {name: [plain(item) for item in value[name].astype(object)] for name in value.columns}
        return [{name: column[row] for name, column in columns.items()} for row in range(len(value))]
    if isinstance(value, pandas.Series):
        return {str(key): plain(item) for key, item in value.astype(object).items()}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or value is pandas.NA or value is pandas.NaT:
        return None
    if isinstance(value, (pandas.Timestamp, datetime.date)):
        return value.isoformat()[:10]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def in_order(rows):
    """Rows of a table whose order nobody has promised."""
    return (
        sorted(rows, key=lambda row: repr([_rough(row[name]) for name in sorted(row)])) if type(rows) is list else rows
    )


def _rough(value):
    # The last digits may differ, and must not decide about the order.
    return round(float(value), 6) if type(value) in (int, float) else value


def differences(ours, theirs, at=""):
    """Where two values differ, in words."""
    where = at or "the result"
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs), key=str):
            if key not in ours or key not in theirs:
                who = "pandas" if key not in ours else "gristmill"
                yield f"only {who} has {where}[{key!r}]"
            else:
                yield from differences(ours[key], theirs[key], f"{at}[{key!r}]")
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield f"{where} has {len(ours)} items, with pandas {len(theirs)}"
            return
        for number, (one, other) in enumerate(zip(ours, theirs)):
            yield from differences(one, other, f"{at}[{number}]")
    elif not same(ours, theirs):
        yield f"{where} is {ours!r}, with pandas {theirs!r}"


def same(ours, theirs):
    if type(ours) is bool or type(theirs) is bool:
        return ours is theirs
    numbers = (int, float, decimal.Decimal)
    if isinstance(ours, numbers) and isinstance(theirs, numbers):
        if type(ours) is int and type(theirs) is int:
            return ours == theirs
        return math.isclose(float(ours), float(theirs), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(ours) is type(theirs) and ours == theirs


def check_ourselves():
    """A comparison that notices nothing would pass for ever."""
    good = [{"a": 1, "b": 2.5, "c": "x", "d": None, "e": True, "big": 2**53 + 1}]
    wrong = [
        [{**good[0], "a": 2}],
        [{**good[0], "b": 2.5 + 1e-6}],
        [{**good[0], "c": "X"}],
        [{**good[0], "d": 0}],
        [{**good[0], "d": ""}],
        [{**good[0], "e": 1}],
        [{**good[0], "big": 2**53}],
        [{key: good[0][key] for key in "abcd"}],
        good + good,
        [],
        {},
    ]
    assert not list(differences(good, good))
    assert not list(differences(good, [{**good[0], "b": 2.5 + 1e-12}]))
    for other in wrong:
        assert list(differences(other, good)) and list(differences(good, other)), f"not noticed: {other}"
    frame = pandas.DataFrame({"a": [1, None], "b": ["x", None]}).convert_dtypes()
    assert plain(frame) == [{"a": 1, "b": "x"}, {"a": None, "b": None}], plain(frame)


if __name__ == "__main__":
    main(*sys.argv[1:])
