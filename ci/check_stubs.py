"""Checks generated stubs with real type checkers, and that nothing in them would run.

    python3 ci/check_stubs.py [CATALOGUES]

Writes the tool tree of CATALOGUES (by default crates/domain/tests/definitions, which are hostile in
parts) and runs mypy over its Python and tsc over its TypeScript. Needs cargo, npm, node and Python
with pip. The checkers are pinned in ci/stub-checkers and installed once, into the user's cache.
"""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "ci" / "stub-checkers"
DEFINITIONS = ROOT / "crates" / "domain" / "tests" / "definitions"

# The bodies of stubs are `...`: that they return nothing is the point.
MYPY_FLAGS = ("--strict", "--python-version=3.14", "--disable-error-code=empty-body", "--no-error-summary")


def main(arguments):
    catalogues = Path(arguments[0]).resolve() if arguments else DEFINITIONS
    checkers = install()
    with tempfile.TemporaryDirectory(prefix="gristmill-stubs-") as folder:
        work = Path(folder)
        write_tree(catalogues, work / "tree")
        stubs = sorted((work / "tree").rglob("*.py"))
        if not stubs:
            raise SystemExit(f"error: {catalogues} holds no tools")
        complaints = [
            *python_statements(work / "tree", stubs),
            *mypy(checkers, work, stubs),
            *typescript(checkers, work),
        ]
    if complaints:
        print("\n".join(complaints))
        raise SystemExit(f"error: {len(complaints)} complaints about the stubs of {len(stubs)} tools")
    print(f"The stubs of {len(stubs)} tools pass mypy and tsc, and hold nothing that would run.")


def install():
    """The folder with both checkers, filled on first use and whenever a pin changes."""
    for program in ("npm", "node"):
        if shutil.which(program) is None:
            raise SystemExit(f"error: {program} is missing; the stubs' check needs Node.js 18 or newer")
    pins = sorted(path for path in PINS.iterdir() if path.is_file())
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in pins)).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gristmill"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    ready = cache / f"stub-checkers-{digest}-{version}"
    if ready.is_dir():
        return ready
    print("Installing mypy and TypeScript, once …", flush=True)
    cache.mkdir(parents=True, exist_ok=True)
    # Appears whole or not at all.
    building = Path(tempfile.mkdtemp(prefix="stub-checkers-", dir=cache))
    try:
        for path in pins:
            shutil.copy(path, building)
        site = ["--target", building / "python", "--requirement", PINS / "requirements.txt"]
        run([sys.executable, "-m", "pip", "install", "--quiet", "--root-user-action=ignore", "--no-deps", *site])
        run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=building)
        try:
            building.rename(ready)
        except OSError:
            # Another run was faster.
            if not ready.is_dir():
                raise
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return ready


def write_tree(catalogues, tree):
    command = ["cargo", "run", "--quiet", "--locked", "-p", "gristmill-domain", "--example", "write_tree", "--"]
    run([*command, catalogues, tree], cwd=ROOT)


def python_statements(tree, stubs):
    """Only imports from typing, types, and one function without a body."""
    for path in stubs:
        name = path.relative_to(tree)
        try:
            statements = ast.parse(path.read_bytes()).body
        except (SyntaxError, ValueError) as error:
            yield f"{name}: not Python: {error}"
            continue
        yield from (f"{name}:{node.lineno}: would run" for node in statements if not is_inert(node))
        functions = [node for node in statements if isinstance(node, ast.AsyncFunctionDef)]
        if len(functions) != 1:
            yield f"{name}: {len(functions)} functions"


def is_inert(node):
    match node:
        case ast.ImportFrom(module="typing", level=0) | ast.Import(names=[ast.alias(name="typing" | "builtins")]):
            return True
        case ast.ClassDef(decorator_list=[], keywords=[]):
            fields = all(isinstance(field, ast.AnnAssign) and field.value is None for field in node.body)
            return fields and all(map(is_type, node.bases))
        case ast.Assign(value=ast.Call(func=function, args=[ast.Constant(), ast.Dict(values=values)], keywords=[])):
            return ast.unparse(function) in ("TypedDict", "typing.TypedDict") and all(map(is_type, values))
        case ast.AnnAssign(value=value):
            return is_type(value)
        case ast.AsyncFunctionDef(body=[ast.Expr(ast.Constant(str())), ast.Expr(ast.Constant(value))]):
            defaults = [default for default in node.args.kw_defaults if default is not None]
            return value is ... and not node.decorator_list and all(map(is_constant, defaults))
    return False


def is_type(node):
    """Names, subscripts and unions of them: nothing that calls."""
    allowed = (
        ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.Constant, ast.Tuple, ast.Starred,
        ast.UnaryOp, ast.USub, ast.Load,
    )  # fmt: skip
    return all(isinstance(inner, allowed) for inner in ast.walk(node))


def is_constant(node):
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def mypy(checkers, work, stubs):
    """All stubs in one run, as modules with names of their own."""
    modules = work / "modules"
    modules.mkdir()
    for path in stubs:
        name = "__".join(path.relative_to(work / "tree").with_suffix("").parts)
        shutil.copy(path, modules / f"stub_{re.sub(r'[^a-zA-Z0-9]', '_', name)}.py")
    if len(list(modules.iterdir())) != len(stubs):
        raise SystemExit("error: two stubs have names that differ in nothing but signs; rename a tool")
    # Must be complained about, or the check checks nothing.
    (modules / "mistaken.py").write_text('number: int = "text"\n')
    environment = {**os.environ, "PYTHONPATH": str(checkers / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "mypy", *MYPY_FLAGS, f"--cache-dir={work / 'cache'}", "."]
    return said(command, modules, environment, "mistaken.py:1: ")


def typescript(checkers, work):
    tree = work / "tree"
    (tree / "mistaken.ts").write_text('export const number: number = "text";\n')
    options = {
        "strict": True,
        "target": "es2022",
        "module": "esnext",
        "moduleResolution": "bundler",
        "lib": ["es2022"],
        "types": [],
        "removeComments": True,
        "rootDir": str(tree),
        "outDir": str(work / "emitted"),
    }
    (work / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["tree/**/*.ts"]}))
    tsc = ["node", checkers / "node_modules" / "typescript" / "bin" / "tsc", "--pretty", "false", "-p", work]
    yield from said(tsc, work, os.environ, "tree/mistaken.ts(1,14): ")
    # What is left when the types are gone is what would run.
    for path in sorted((work / "emitted").rglob("*.js")):
        lines = path.read_text(encoding="utf-8").splitlines()
        exports = r'export \{ \w+ \} from "\./[\w-]+";|export \{\};' if path.stem == "index" else r"export \{\};"
        if path.stem != "mistaken" and not all(re.fullmatch(exports, line) for line in lines):
            yield f"{path.relative_to(work / 'emitted')}: would run: {lines[:3]}"


def said(command, folder, environment, expected):
    """What a checker complains about, beside the mistake that it has to find."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if not any(line.startswith(expected) for line in lines):
        raise SystemExit(f"error: the checker did not work: {done.stdout}{done.stderr}")
    return [line for line in lines if not line.startswith(expected)]


def run(command, **options):
    done = subprocess.run(command, **options)
    if done.returncode != 0:
        raise SystemExit(f"error: {' '.join(map(str, command[:4]))} … ended with code {done.returncode}")


if __name__ == "__main__":
    main(sys.argv[1:])
