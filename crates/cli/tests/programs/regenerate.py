#!/usr/bin/env python3
"""Writes NNN_name.expected.json beside each NNN_name.py by running it in plain CPython (3.11 or newer).

    python3 regenerate.py                   write all
    python3 regenerate.py --check           compare only; exit 1 when a file would change
    python3 regenerate.py 007 031            only those whose name starts so

Each program runs in its own process and in an empty folder, with what the sandbox gives it:
top-level await, the injected names, `result` or else the last expression's value.
"""

import ast
import asyncio
import contextlib
import dataclasses
import datetime
import decimal
import enum
import inspect
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).resolve().parent
LAST = "__last_expression__"


def plain(value):
    """The sandbox's rules for turning a result into JSON."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(item) for name, item in zip(value._fields, value)}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"key {key!r}: the corpus keeps to text keys")
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    raise TypeError(f"no rule for a {type(value).__name__}")


def servers_package(tools):
    """`from servers.shop import list_orders` works as it does in the sandbox."""
    package = types.ModuleType("servers")
    package.__path__ = []
    sys.modules["servers"] = package
    for server, functions in tools.SERVERS.items():
        module = types.ModuleType(f"servers.{server}")
        vars(module).update(functions)
        setattr(package, server, module)
        sys.modules[module.__name__] = module


def run(path):
    sys.path.insert(0, str(HERE))
    import example_tools as tools

    servers_package(tools)
    tree = ast.parse(path.read_text(encoding="utf-8"), path.name)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        target = ast.Name(LAST, ast.Store())
        tree.body[-1] = ast.copy_location(ast.Assign([target], tree.body[-1].value), tree.body[-1])
    code = compile(ast.fix_missing_locations(tree), path.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    names = vars(main)
    names.update(
        callMCPTool=tools.call_mcp_tool,
        call_mcp_tool=tools.call_mcp_tool,
        ToolError=tools.ToolError,
        list_directory=lambda path=".": sorted(os.listdir(path)),
        read_file=lambda path: pathlib.Path(path).read_text(encoding="utf-8"),
        write_file=lambda path, text: pathlib.Path(path).write_text(text, encoding="utf-8") and None,
        asyncio=asyncio,
        json=json,
    )

    async def body():
        await eval(code, names)

    stdout = io.StringIO()
    with contextlib.redirect_stdout(stdout):
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(body())
        else:
            exec(code, names)
    result = names["result"] if "result" in names else names.get(LAST)
    return {"stdout": stdout.getvalue(), "result": plain(result)}


def expected_text(path):
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ.get("PATH", ""), "TZ": "UTC", "LC_ALL": "C"}
        command = [sys.executable, "-B", "-I", "-X", "utf8", "-W", "error", str(HERE / "regenerate.py"), "--run", str(path)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=60)
    if done.returncode:
        raise SystemExit(f"{path.name} failed:\n{done.stderr}")
    return done.stdout


def main(arguments):
    if arguments[:1] == ["--run"]:
        document = run(pathlib.Path(arguments[1]))
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        return 0
    check = "--check" in arguments
    wanted = tuple(word for word in arguments if word != "--check")
    changed = 0
    for path in sorted(HERE.glob("[0-9]*.py")):
        if wanted and not path.stem.startswith(wanted):
            continue
        target = path.with_suffix(".expected.json")
        text = expected_text(path)
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        changed += 1
        print(f"{'differs' if check else 'wrote'}: {target.name}")
        if not check:
            target.write_text(text, encoding="utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
