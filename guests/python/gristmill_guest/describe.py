"""describe_tool: a tool's stub from the tree, found by any spelling of its name. No host call.

A skill, which is found beside tools, is described as well."""

import difflib

from gristmill_guest import at_once, catalogue, names, signature, skills, tools

DETAILS = ("full", "signature")
LANGUAGES = {"python": "py", "py": "py", "typescript": "ts", "ts": "ts"}
NAME_CHARS_MAX = 300
NEAREST_MAX = 5
LISTED_MAX = 20

_SEPARATORS = (".", "/", "__")


class ToolStub(at_once.AtOnce, str):
    """The text of a stub."""

    __slots__ = ()


ToolStub.__module__ = "gristmill"


def describe_tool(name, detail="full", language="python"):
    """The stub of a tool, with its types and docs; detail="signature" gives its def alone. Needs no await.

    `name` is "tool" or "server.tool", in any spelling.
    """
    if not isinstance(name, str):
        raise TypeError(f"describe_tool takes the tool's name as text, not {type(name).__name__}")
    if not name.strip():
        raise TypeError("describe_tool needs the tool's name")
    _choose("detail", detail, DETAILS)
    extension = LANGUAGES[_choose("language", language, LANGUAGES)]
    name = str.__str__(name).strip()
    try:
        server, tool = _find(name)
    except tools.ToolError:
        described = skills.described(name)
        if described is None:
            raise
        return ToolStub(described)
    try:
        text = catalogue.stub(server, tool, extension)
    except OSError:
        raise _failure(f"{server}.{tool} has no description in this language; try another", name) from None
    return ToolStub(text if detail == "full" else signature.of(text, tool, extension))


def _choose(argument, given, allowed):
    if not isinstance(given, str) or given not in allowed:
        shown = f'"{given[:40]}"' if isinstance(given, str) else type(given).__name__
        raise TypeError(f"{argument} of describe_tool must be one of {', '.join(allowed)}, not {shown}")
    return given


def _find(name):
    """The one tool that is meant, as folder and stem."""
    known = _known()
    found = _Spellings(known).places(name) if len(name) <= NAME_CHARS_MAX else []
    if len(found) == 1:
        return found[0]
    if found:
        listed = _listed(found, LISTED_MAX)
        raise _failure(f'"{name}" may be {listed}; write one of these', name)
    raise _unknown(name, known)


def _known():
    return [(server, tool) for server in catalogue.servers() for tool in catalogue.tools(server)]


def meant(name):
    """The tools that a name may mean, as folder and stem; also with nothing between its two parts."""
    if len(name) > NAME_CHARS_MAX:
        return []
    known = _known()
    folded = names.fold(name)
    joined = (place for place in known if names.fold("".join(place)) == folded)
    return _Spellings(known).places(name) or list(joined)


def nearest(name):
    """The tools with the closest names, as `server.tool`, best first."""
    return [".".join(place) for place in _nearest(name[:NAME_CHARS_MAX], _known())]


class _Spellings:
    """Tools by every spelling of their names. Made anew each time: the tree may have changed."""

    def __init__(self, known):
        self._exact = {}
        self._folded = {}
        for place in known:
            server, tool = place
            for stem in {tool, names.identifier(tool)}:
                self._exact.setdefault(stem, []).append(place)
                for folder in {server, names.identifier(server)}:
                    self._exact.setdefault(f"{folder}.{stem}", []).append(place)
            self._folded.setdefault(names.fold(tool), []).append(place)
            self._folded.setdefault((names.fold(server), names.fold(tool)), []).append(place)
        # A tool's own name comes before a file's that is only spelled so.
        for server in {server for server, _ in known}:
            for own, stem in catalogue.renamed(server).items():
                if (server, stem) in known:
                    self._exact[own] = [place for place in self._exact.get(own, []) if place[0] != server]
                    self._exact[own].append((server, stem))
                    for folder in {server, names.identifier(server)}:
                        self._exact[f"{folder}.{own}"] = [(server, stem)]

    def places(self, name):
        """What the name means: as it is spelled, else with its server, else alone."""
        plain = name.removeprefix("mcp__").replace("__", ".", 1) if name.startswith("mcp__") else name
        exact = self._exact.get(name) or self._exact.get(plain) or self._exact.get(name.replace("/", ".", 1))
        return exact or self._qualified(name) or self._any_of(names.folds(name))

    def _qualified(self, name):
        plain = name.removeprefix("mcp__")
        for separator in _SEPARATORS:
            parts = plain.split(separator)
            for at in range(1, len(parts)):
                servers, stems = (names.folds(separator.join(side)) for side in (parts[:at], parts[at:]))
                found = self._any_of((server, stem) for server in servers for stem in stems)
                if found:
                    return found
        return []

    def _any_of(self, keys):
        found = (place for key in keys for place in self._folded.get(key, ()))
        return list(dict.fromkeys(found))


def _unknown(name, known):
    shown = name if len(name) <= 100 else name[:100] + "\u2026"
    server = names.matching(name.split(".", 1)[0][:NAME_CHARS_MAX], catalogue.servers())
    if server is not None:
        state = catalogue.why_down(server)
        if state is not None:
            return _failure(f"server {server} is down: {state}", name, code=None, kind="unavailable")
        members = [place for place in known if place[0] == server]
        if "." not in name:
            listed = _listed(members, LISTED_MAX) or "none"
            return _failure(f'"{shown}" is a server, not a tool; its tools: {listed}', name)
        known = _nearest(name, members) or known
    if not known:
        return _failure(f'there is no tool "{shown}": no server is connected', name)
    near = _nearest(name, known)
    among = " that this program may call" if catalogue.is_partial() else ""
    said = f"did you mean {_listed(near, NEAREST_MAX)}?" if near else "find one with search_tools(...)"
    return _failure(f'there is no tool "{shown}"{among}; {said}', name)


def _nearest(name, known):
    """The tools with the closest names, best first."""
    by_name = {}
    for server, tool in known:
        by_name.setdefault(names.fold(tool), []).append((server, tool))
        by_name.setdefault(names.fold(server + tool), []).append((server, tool))
    near = []
    for written in dict.fromkeys((name, name.rsplit(".", 1)[-1])):
        wanted = names.fold(written[:NAME_CHARS_MAX])
        close = difflib.get_close_matches(wanted, by_name, NEAREST_MAX)
        if len(wanted) > 2:
            close += [key for key in by_name if wanted in key][:NEAREST_MAX]
        near += [place for key in close for place in by_name[key]]
    return list(dict.fromkeys(near))[:NEAREST_MAX]


def _listed(places, count_max):
    listed = ", ".join(f"{server}.{tool}" for server, tool in places[:count_max])
    left = len(places) - count_max
    return f"{listed} and {left} more" if left > 0 else listed


def _failure(message, name, code="GM-1401", kind="unknown_tool"):
    error = tools.ToolError(message, tool=name, code=code, kind=kind)
    error.line = tools.program_line()
    return error
