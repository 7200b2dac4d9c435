"""The expression of the program that an error came from, and what its parts were worth.

Looked up only after a program has failed. Nothing of the program is run for it: names are read from the frame, members
from plain lists and dicts.
"""

import ast
import itertools
import linecache

from gristmill_guest import answers, tools

TEXT_CHARS_MAX = 200_000
EXPRESSION_CHARS_MAX = 60
DEPTH_MAX = 20

# Stands for "nobody knows".
UNKNOWN = object()


class FailedExpression:
    """The innermost line of the program in a traceback. `is_last` says that the error was raised right there."""

    def __init__(self, frame, lasti, lineno, is_last):
        self._frame = frame
        self.lineno = lineno
        self.is_last = is_last
        self._tree = None
        self._position = next(itertools.islice(frame.f_code.co_positions(), lasti // 2, None), (None,) * 4)

    @property
    def line(self):
        """The text of the line, or ""."""
        lines = _lines(self._frame.f_code.co_filename)
        return lines[self.lineno - 1].strip() if 0 < self.lineno <= len(lines) else ""

    def node(self, *kinds):
        """The smallest expression of one of these kinds that the error is about, or None."""
        start_line, end_line, start, end = self._position
        if None in self._position or self._parsed() is None:
            return None
        found = [
            node
            for node in ast.walk(self._tree)
            if isinstance(node, kinds)
            and (node.lineno, node.col_offset) <= (start_line, start)
            and (node.end_lineno, node.end_col_offset) >= (end_line, end)
        ]
        return min(found, key=_size, default=None)

    def value(self, node, depth=0):
        """What the expression is worth now, or UNKNOWN."""
        if depth > DEPTH_MAX:
            return UNKNOWN
        if isinstance(node, ast.Name):
            return self._named(node.id, depth)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Await):
            # It has just come, so it is the latest.
            answer = answers.latest() if self.is_last else None
            return UNKNOWN if answer is None else answer
        if isinstance(node, ast.Subscript):
            return _member(self.value(node.value, depth + 1), self.value(node.slice, depth + 1))
        return UNKNOWN

    def looped_over(self, node):
        """What the program takes the members of that are called as `node` is, or UNKNOWN."""
        if not isinstance(node, ast.Name) or self._parsed() is None:
            return UNKNOWN
        for loop in self._loops(node.id):
            return self.value(loop.iter)
        return UNKNOWN

    def loop_text(self, node):
        """How the program writes that, or None."""
        return next((written(loop.iter) for loop in self._loops(node.id)), None) if isinstance(node, ast.Name) else None

    def _named(self, name, depth):
        frame = self._frame
        for names in (frame.f_locals, frame.f_globals):
            if name in names:
                return names[name]
        # The variable of a comprehension is gone by now; all its values look alike.
        for loop in self._loops(name):
            members = self.value(loop.iter, depth + 1)
            if type(members) in (list, tuple, dict) and members:
                return next(iter(members))
        return frame.f_builtins.get(name, UNKNOWN)

    def _loops(self, name):
        """The loops around the failed line that have this variable."""
        if self._parsed() is None:
            return
        for node in ast.walk(self._tree):
            is_loop = isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension))
            if is_loop and isinstance(node.target, ast.Name) and node.target.id == name and self._is_around(node):
                yield node

    def _is_around(self, loop):
        if isinstance(loop, ast.comprehension):
            return abs(loop.iter.lineno - self.lineno) <= 5
        return loop.lineno <= self.lineno <= loop.end_lineno

    def _parsed(self):
        if self._tree is None:
            text = "".join(_lines(self._frame.f_code.co_filename))
            try:
                self._tree = ast.parse(text) if len(text) <= TEXT_CHARS_MAX else False
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._tree = False
        return self._tree or None


def of(error):
    """The failed expression of an error; None if no line of the program is in its traceback."""
    found = None
    entry = error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if code.co_filename in tools.PROGRAM_FILENAMES:
            found = FailedExpression(entry.tb_frame, entry.tb_lasti, entry.tb_lineno, entry.tb_next is None)
        entry = entry.tb_next
    return found


def written(node):
    """The expression as text, short enough for a hint; None if it is not."""
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return None
    return text if len(text) <= EXPRESSION_CHARS_MAX and "\n" not in text else None


def _lines(filename):
    entry = linecache.cache.get(filename)
    return entry[2] if type(entry) is tuple and len(entry) == 4 and type(entry[2]) is list else []


def _member(container, key):
    """A member of a plain list or dict; no code of the program runs."""
    kind = type(container)
    if kind is dict and type(key) in (str, int):
        return container.get(key, UNKNOWN)
    if kind in (list, tuple) and type(key) is int and -len(container) <= key < len(container):
        return container[key]
    return UNKNOWN


def _size(node):
    return (node.end_lineno - node.lineno, node.end_col_offset - node.col_offset)
