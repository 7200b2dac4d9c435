"""From the text that a model sent to a code object.

Models wrap code in Markdown fences, indent all of it, and paste line endings of any
kind. What can be read only one way is repaired, with a note; what cannot is a
`SyntaxError` that names the line. Line numbers always refer to the repaired text.
"""

import ast
import dis
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
# Comments and strings, so that what looks like a fence inside one is told apart.
_STRING = re.compile(
    r'#[^\n]*|"""[\s\S]*?"""|' r"'''[\s\S]*?'''|" r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'"
)
_PYTHON_TAGS = frozenset(("", "python", "py", "python3", "python2", "py3", "ipython", "pycon", "tool_code", "code"))

# What compiling anything that is no program can raise.
NO_PROGRAM = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


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
    if unfenced is not None:
        text = unfenced
        notes.append("the code was extracted from its Markdown fence; line numbers count from inside it")
    if _starts_indented(text):
        text = textwrap.dedent(text)
        notes.append("the code's common indentation was removed")
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
    except NO_PROGRAM:
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


def assigns(compiled, name):
    """Whether the program itself, not a function in it, has a statement that assigns the variable."""
    codes = compiled.codes if compiled.last is None else [*compiled.codes, compiled.last]
    return any(
        step.opname in ("STORE_NAME", "STORE_GLOBAL") and step.argval == name
        for code in codes
        if name in code.co_names
        for step in dis.get_instructions(code)
    )


def show_line(error, text):
    """Gives a SyntaxError of the compiler, which saw no text, the line that it is about."""
    lines = text.split("\n")
    if error.text is None and error.lineno and 0 < error.lineno <= len(lines):
        error.text = lines[error.lineno - 1] + "\n"


def unwrap_fence(text):
    """The program inside the Markdown fences of the text, or None to take the text as it is.

    Of several fences the one that is tagged as Python counts, if it is the only such one.
    An opening fence without its end runs to the end of the text; a closing fence without
    its beginning ends the program. Code on both sides of a fence is nobody's guess.
    """
    lines = text.split("\n")
    fences = _fences(text, lines)
    if not fences:
        return None
    before = "\n".join(lines[: fences[0][0]])
    if len(fences) == 1 and _is_code(before):
        after = "\n".join(lines[fences[0][0] + 1 :])
        return None if _is_code(after) or _parses(text) else before
    body, end = _only_block(lines, fences)
    if not body.strip() or _is_code(before) or _is_code("\n".join(lines[end:])):
        return None
    # Broken code inside a fence is told from there; broken code around one is not.
    if before.strip() and (_parses(text) or not _parses(textwrap.dedent(body))):
        return None
    return body


def _fences(text, lines):
    """Line number, mark and tag of every fence line that is no part of a string."""
    found = [(number, _FENCE.match(line)) for number, line in enumerate(lines) if _FENCE.match(line)]
    if not found:
        return []
    inside_strings = set()
    line, counted = 0, 0
    for match in _STRING.finditer(text):
        within = match.group().count("\n")
        if within:
            line += text.count("\n", counted, match.start())
            inside_strings.update(range(line + 1, line + within + 1))
            line, counted = line + within, match.end()
    return [(number, m.group(1), m.group(2).lower()) for number, m in found if number not in inside_strings]


def _only_block(lines, fences):
    """The text of the block that counts, or "", and the line where the last block ends."""
    blocks = []
    end, opening = 0, None
    for number, mark, tag in fences:
        if opening is None:
            opening = (number, mark, tag)
        elif not tag and mark[0] == opening[1][0] and len(mark) >= len(opening[1]):
            blocks.append((opening[2], "\n".join(lines[opening[0] + 1 : number])))
            end, opening = number + 1, None
    if opening is not None:
        blocks.append((opening[2], "\n".join(lines[opening[0] + 1 :])))
        end = len(lines)
    blocks = [(tag, body) for tag, body in blocks if tag in _PYTHON_TAGS and body.strip()]
    if len(blocks) > 1:
        blocks = [(tag, body) for tag, body in blocks if tag]
    return (blocks[0][1] if len(blocks) == 1 else ""), end


def _is_code(text):
    """Whether the text is Python that does something: not blank, and not a word or two of prose."""
    if not text.strip():
        return False
    try:
        tree = compile(text, "<check>", "exec", flags=_FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
    except NO_PROGRAM:
        return False
    return any(_does_something(statement) for statement in tree.body)


def _does_something(statement):
    if isinstance(statement, ast.AnnAssign):
        return statement.value is not None
    if isinstance(statement, ast.Expr):
        return any(isinstance(node, (ast.Call, ast.Await)) for node in ast.walk(statement))
    return True


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


def _starts_indented(text):
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return line[0] in " \t"
    return False


def _parses(text):
    """Whether the text is a program; only asked when a fence was found."""
    try:
        compile(text, "<check>", "exec", flags=_FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
    except NO_PROGRAM:
        return False
    return True
