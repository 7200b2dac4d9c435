"""Runs one program in plain CPython, as the sandbox would: its result is `result` or its last expression's value.

    python3 -I -B outside.py PACKAGES PROGRAM CONTEXT

CONTEXT is JSON: names that it finds. Prints JSON: what it printed, its result, and the error that ended it.
It uses nothing of the code under test.
"""

import ast
import asyncio
import contextlib
import datetime
import inspect
import io
import json
import math
import sys
import traceback
import types

LAST = "__last_expression__"
FILE = "program.py"


def main(packages, path, context):
    sys.path.append(packages)
    tree = ast.parse(open(path, encoding="utf-8").read(), FILE)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        target = ast.Name(LAST, ast.Store())
        tree.body[-1] = ast.copy_location(ast.Assign([target], tree.body[-1].value), tree.body[-1])
    code = compile(ast.fix_missing_locations(tree), FILE, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    names = vars(module)
    names.update(json.loads(context), asyncio=asyncio, json=json)
    stdout, stderr, error = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            if code.co_flags & inspect.CO_COROUTINE:
                asyncio.run(awaited(code, names))
            else:
                exec(code, names)
        except Exception as raised:
            error = told(raised)
    result = names["result"] if "result" in names else names.get(LAST)
    document = {
        "stdout": stdout.getvalue(),
        "stderr": stderr.getvalue(),
        "result": None if error else plain(result),
        "error": error,
    }
    json.dump(document, sys.__stdout__)


async def awaited(code, names):
    await eval(code, names)


def told(error):
    frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    return {"message": f"{type(error).__name__}: {error}", "line": frames[-1] if frames else None}


def plain(value):
    """A result as JSON: rows of a table, items of an array; what is missing in them is null."""
    kind = type(value).__module__.partition(".")[0]
    if kind == "pandas":
        return of_pandas(value)
    if kind == "numpy":
        if value.dtype.kind in "mM":
            return value.astype(str).tolist()
        return [plain(item) for item in value.tolist()] if value.ndim else plain(value.item())
    if isinstance(value, dict):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return value


def of_pandas(value):
    import pandas

    if isinstance(value, pandas.Timestamp):
        return value.isoformat()
    if isinstance(value, (pandas.Period, pandas.Interval)):
        return str(value)
    is_numbered = isinstance(value.index, pandas.RangeIndex) and value.index.equals(pandas.RangeIndex(len(value)))
    if isinstance(value, pandas.Series):
        values = [cell(item) for item in value]
        return values if is_numbered else {str(name): item for name, item in zip(value.index, values)}
    table = value if is_numbered else value.reset_index()
    rows = table.itertuples(index=False, name=None)
    return [{str(name): cell(item) for name, item in zip(table.columns, row)} for row in rows]


def cell(value):
    import pandas

    return None if pandas.api.types.is_scalar(value) and pandas.isna(value) else plain(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
