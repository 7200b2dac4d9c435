"""search_tools: the one host call that a program waits for without `await`."""

from gristmill_guest import at_once, encoding, loop, tools

DETAILS = ("names", "summary", "full")
# More than any catalogue holds, and a number to every reader of JSON.
COUNT_MAX = 2**31 - 1


class ToolHit(dict):
    """One tool that was found: `hit["tool"]`, `hit.tool`."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f'a hit has no "{name}"; it has: {", ".join(map(str, self))}') from None


class ToolHits(at_once.AtOnce, list):
    """The tools that were found, best first. Printed, it is text to read."""

    def __init__(self, hits=(), text="", shown=None, total=None):
        super().__init__(hits)
        self.text = text
        self.shown = len(self) if shown is None else shown
        self.total = len(self) if total is None else total

    def __str__(self):
        return self.text

    # asyncio.gather keeps what it is given in a dict.
    __hash__ = object.__hash__


ToolHit.__module__ = ToolHits.__module__ = "gristmill"


def search_tools(query="", *, server=None, category=None, detail="summary", limit=10, offset=0, detail_level=None):
    """Finds tools by what they do; without a query it browses. Needs no await.

    Each hit has `tool`, `server`, `name`, `signature` and `description`; print() shows all as text. `detail_level` is
    what `detail` is called over MCP.
    """
    line = tools.program_line()
    asked = {
        "query": _text("query", query),
        "server": None if server is None else _text("server", server),
        "category": None if category is None else _text("category", category),
        "detail": _detail(detail if detail_level is None else detail_level),
        "limit": _count("limit", limit, 1),
        "offset": _count("offset", offset, 0),
        "line": line,
    }
    payload = encoding.to_json(asked)
    if len(payload) > tools.PAYLOAD_CHARS_MAX:
        raise _failure(
            f"the search is {len(payload):,} characters of JSON; at most {tools.PAYLOAD_CHARS_MAX:,} can be sent",
            line,
            "GM-1208",
            "limit",
        )
    ok, answer = loop.current().calls.ask("search", payload)
    if ok:
        return _hits(answer, line)
    error = tools.error_from(answer, "search_tools")
    error.line = line
    raise error


def _hits(answer, line):
    try:
        answer = encoding.from_json(answer)
        hits, text = answer["hits"], answer["text"]
        if type(hits) is list and type(text) is str and all(type(hit) is dict for hit in hits):
            return ToolHits(map(ToolHit, hits), text, _number(answer.get("shown")), _number(answer.get("total")))
    except (ValueError, RecursionError, TypeError, KeyError):
        pass
    raise _failure("the search answer can't be read", line, None, "search")


def _failure(message, line, code, kind):
    error = tools.ToolError(message, tool="search_tools", code=code, kind=kind)
    error.line = line
    return error


def _number(value):
    return value if type(value) is int else None


def _text(name, value):
    if not isinstance(value, str):
        raise TypeError(f"{name} of search_tools must be text, not {type(value).__name__}")
    return str.__str__(value)


def _detail(detail):
    if isinstance(detail, str) and detail in DETAILS:
        return str.__str__(detail)
    given = f'"{detail[:40]}"' if isinstance(detail, str) else type(detail).__name__
    raise TypeError(f"detail of search_tools must be one of {', '.join(DETAILS)}, not {given}")


def _count(name, value, least):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} of search_tools must be a whole number, not {type(value).__name__}")
    number = int.__int__(value)
    if number < least:
        raise TypeError(f"{name} of search_tools must be at least {least}")
    return min(number, COUNT_MAX)
