"""The head of a tool's function in its stub: the lines from `def` or `function` to where the body begins."""

import ast
import re
import warnings

from gristmill_guest import names

_FUNCTION = re.compile(r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:async[ \t]+)?function\b", re.M)
# Other than splitlines, the parser knows no further ones.
_LINE_END = re.compile(r"\r\n|\r|\n")
# Strings and comments as wholes, then what opens, closes or ends something.
_PIECE = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|//[^\n]*|/\*.*?\*/)|[()\[\]{};]""", re.S)


def of(text, tool, extension):
    """The signature; the whole text where none is found."""
    found = _python(text, names.identifier(tool)) if extension == "py" else _typescript(text, names.identifier(tool))
    return found or text


def parameters(text, tool):
    """The names of a Python stub's parameters, each with whether it is required; None where it has no function."""
    functions = _functions(text, names.identifier(tool))
    if not functions:
        return None
    arguments = functions[0].args
    return [
        (argument.arg, default is None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]


def _python(text, name):
    lines = _LINE_END.split(text)
    return "\n".join(_head(node, lines) for node in _functions(text, name))


def _functions(text, name):
    """The functions of that name, else all."""
    try:
        # What is wrong with a stub is no news to the program.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [node for node in functions if node.name == name] or functions


def _head(node, lines):
    body = node.body[0]
    # Columns count in UTF-8.
    before = lines[body.lineno - 1].encode()[: body.col_offset]
    end = body.lineno if before.strip() else body.lineno - 1
    return "\n".join(lines[node.lineno - 1 : end]).rstrip()


def _typescript(text, name):
    starts = list(_FUNCTION.finditer(text))
    named = re.compile(rf"\s*\*?\s*{re.escape(name)}\b")
    starts = [match for match in starts if named.match(text, match.end())] or starts
    return "\n".join(text[match.start() : _end(text, match.end())].strip() for match in starts)


def _end(text, start):
    """Where the declaration ends: behind its semicolon, or before its body."""
    depth = 0
    for piece in _PIECE.finditer(text, start):
        token = piece.group()
        if token in ("(", "[") or (token == "{" and (depth or _opens_type(text, piece.start()))):
            depth += 1
        elif token == "{":
            return piece.start()
        elif token in (")", "]", "}"):
            depth -= 1
        elif token == ";" and depth == 0:
            return piece.end()
    return len(text)


def _opens_type(text, brace):
    """Whether a brace stands where a type is expected: `: {`, `<{`, `| {`, `=> {`."""
    before = text[max(0, brace - 200) : brace].rstrip()
    return before.endswith((":", "<", ",", "|", "&", "=", "=>"))
