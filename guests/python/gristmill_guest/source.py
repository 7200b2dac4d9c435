"""From the text that a model sent to a code object.

Models wrap code in Markdown fences, indent all of it, and paste line endings of any
kind. What can be read only one way is repaired, with a note; what cannot is a
`SyntaxError` that names the line. Line numbers always refer to the repaired text.
"""

import ast
import inspect
import re
import textwrap

SPLIT_TRIES_MAX = 8

_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
# A top-level statement starts with none of these: indentation, comments, closing brackets.
_NEVER_FIRST = " \t\f#)]}\\"

# No program can name this variable: it is not an identifier.
LAST_EXPRESSION = "<last expression>"

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([^\s`~]*)[^\n`]*$")
_PYTHON_TAGS = frozenset(("", "python", "py", "python3", "python2", "py3", "ipython", "pycon", "tool_code", "code"))


class Source:
    """Repaired program text and the notes about its repairs."""

    __slots__ = ("text", "notes")

    def __init__(self, text, notes):
        self.text = text
        self.notes = notes


class Compiled:
    """Code objects to run one after the other, and one whose value counts, if any."""

    __slots__ = ("codes", "last", "is_async")

    def __init__(self, codes, last=None):
        self.codes = codes
        self.last = last
        self.is_async = any(is_coroutine(code) for code in codes) or (last is not None and is_coroutine(last))


def is_coroutine(code):
    return bool(code.co_flags & inspect.CO_COROUTINE)


def read(text, filename):
    """Repairs the text. Raises SyntaxError where there is nothing safe to repair."""
    notes = []
    if text.startswith("\ufeff"):
        text = text[1:]
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    _refuse_unreadable_characters(text, filename)
    unfenced = unwrap_fence(text) if "```" in text or "~~~" in text else None
    if unfenced is not None and (_starts_with_fence(text) or (not _parses(text) and _parses(unfenced))):
        text = unfenced
        notes.append("the code was taken out of its Markdown fence; line numbers count from inside it")
    if _starts_indented(text):
        text = textwrap.dedent(text)
        notes.append("the common indentation of the code was removed")
    return Source(text, notes)


def compile_program(text, filename):
    """Compiles with top-level await, keeping the value of a final expression statement.

    Syntax trees are slow to build here, so one is built only where nothing else will do.
    """
    return _compile_apart(text, filename) or Compiled([_compile_keeping_last(text, filename)])


def _compile_apart(text, filename):
    """Head and last statement apart, or None when the split is not certain.

    A split between two lines is right when both sides are complete programs: then the
    head's tokens end exactly where the tail's begin.
    """
    if "__future__" in text or "__annotations__" in text:
        return None
    lines = text.split("\n")
    tries = 0
    for start in range(len(lines) - 1, -1, -1):
        if not lines[start] or lines[start][0] in _NEVER_FIRST:
            continue
        tries += 1
        if tries > SPLIT_TRIES_MAX:
            return None
        if start and lines[start - 1].endswith("\\"):
            continue
        # Empty lines in front keep the line numbers.
        tail = "\n" * start + "\n".join(lines[start:])
        last = _compiled(tail, filename, "eval")
        codes = []
        if last is None:
            statement = _compiled(tail, filename, "exec")
            if statement is None:
                continue
            if ";" in tail:
                # Several statements on a line: the last of them may be an expression.
                return None
            codes = [statement]
        if start:
            head = _compiled("\n".join(lines[:start]) + "\n", filename, "exec")
            if head is None:
                continue
            codes.insert(0, head)
        return Compiled(codes, last)
    return None


def _compiled(text, filename, mode):
    try:
        return compile(text, filename, mode, _FLAGS, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _compile_keeping_last(text, filename):
    # Given as str, so an encoding declaration in a comment has no effect.
    tree = ast.parse(text, filename, "exec")
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        target = ast.Name(id=LAST_EXPRESSION, ctx=ast.Store())
        assign = ast.Assign(targets=[target], value=last.value)
        ast.copy_location(assign, last)
        ast.copy_location(target, last)
        tree.body[-1] = assign
    return compile(tree, filename, "exec", _FLAGS, dont_inherit=True)


def show_line(error, text):
    """Gives a SyntaxError of the compiler, which saw no text, the line that it is about."""
    lines = text.split("\n")
    if error.text is None and error.lineno and 0 < error.lineno <= len(lines):
        error.text = lines[error.lineno - 1] + "\n"


def unwrap_fence(text):
    """The inside of the only Python fence in the text, or None.

    Of several fences the one that is tagged as Python counts, if it is the only such one.
    An opening fence without its end runs to the end of the text.
    """
    blocks = []
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        opening = _FENCE.match(lines[index])
        index += 1
        if opening is None:
            continue
        mark, tag = opening.group(1), opening.group(2).lower()
        body = []
        while index < len(lines):
            closing = lines[index].strip()
            if len(closing) >= len(mark) and set(closing) == {mark[0]}:
                break
            body.append(lines[index])
            index += 1
        index += 1
        if tag in _PYTHON_TAGS:
            blocks.append((tag, "\n".join(body)))
    if not blocks:
        return None
    if len(blocks) == 1:
        return blocks[0][1]
    tagged = [body for tag, body in blocks if tag]
    if len(tagged) == 1:
        return tagged[0]
    return None


def _refuse_unreadable_characters(text, filename):
    position = text.find("\0")
    if position >= 0:
        raise _error("the code contains a NUL character; remove it", text, position, filename)
    for position, character in enumerate(text) if not text.isascii() else ():
        if "\ud800" <= character <= "\udfff":
            raise _error("the code contains half of a surrogate pair; send valid UTF-8", text, position, filename)


def _error(message, text, position, filename):
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    shown = text.split("\n")[line - 1].replace("\0", "\u2400")
    shown = shown.encode("utf-8", "replace").decode("utf-8")
    return SyntaxError(message, (filename, line, column, shown, line, column + 1))


def _starts_with_fence(text):
    return _FENCE.match(text.lstrip().split("\n", 1)[0]) is not None


def _starts_indented(text):
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return line[0] in " \t"
    return False


def _parses(text):
    """Whether the text is a program; only asked when a fence was found."""
    try:
        compile(text, "<check>", "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False
    return True
