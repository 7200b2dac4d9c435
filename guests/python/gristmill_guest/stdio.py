"""Standard streams: line-buffered UTF-8 that never fails on a character, and no input."""

import builtins
import io
import sys

INPUT_HINT = "the sandbox has no keyboard input; pass values as context variables instead"


def _stream(raw):
    return io.TextIOWrapper(
        io.BufferedWriter(raw, 64 * 1024),
        encoding="utf-8",
        errors="backslashreplace",
        newline="\n",
        line_buffering=True,
    )


class _Nowhere(io.RawIOBase):
    """Takes everything and keeps nothing: where a warm-up prints."""

    def writable(self):
        return True

    def write(self, data):
        return len(data)


class Streams:
    """A pair of output streams and the way to put them in place."""

    def __init__(self, out, err):
        self._out = out
        self._err = err

    def put_in_place(self):
        sys.stdout = sys.__stdout__ = self._out
        sys.stderr = sys.__stderr__ = self._err
        sys.stdin = sys.__stdin__ = io.StringIO("")
        builtins.input = no_input

    def are_open(self):
        """Whether a program has closed one of them."""
        return not (self._out.closed or self._err.closed)

    def flush(self):
        """Flushes ours and whatever the program put in their place."""
        for stream in (sys.stdout, sys.stderr, self._out, self._err):
            try:
                stream.flush()
            except BaseException:
                continue


def no_input(prompt=""):
    """Stands in for input()."""
    raise EOFError(INPUT_HINT)


def live():
    return Streams(_stream(io.FileIO(1, "w", closefd=False)), _stream(io.FileIO(2, "w", closefd=False)))


def nowhere():
    return Streams(_stream(_Nowhere()), _stream(_Nowhere()))
