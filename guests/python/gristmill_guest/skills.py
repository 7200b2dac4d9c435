"""Skills: saved code. Read from /skills, where it lies as it was when the program began; saved, deleted
and listed by the host, without `await`.

What a program saves itself it can load and import at once. A module whose source has changed, or that
may hold something of one, is imported anew.
"""

import collections.abc
import difflib
import io
import sys

from gristmill_guest import at_once, catalogue, encoding, loop, names, tools

SKILLS = "/skills"
NAME_CHARS_MAX = 100
LISTED_MAX = 40
WAITING_FILE = ".waiting"
WAITING_CHARS_MAX = 64 * 1024

_open = io.open

# Sources that this run saved, by name; None for what it deleted.
_changed = {}

# In an interpreter that stayed, /skills is as it was when that began: these are the names there are now,
# once somebody has asked.
_is_older = False
_names_now = None

# Modules of skills with the source that each was made of, by the name under which it was imported.
_imported = {}


class SkillSource(at_once.AtOnce, str):
    """The source of a skill."""

    __slots__ = ()


class SkillAnswer(at_once.AtOnce, dict):
    """What saving or deleting came to. Printed, it is text to read."""

    def __init__(self, members=(), text=""):
        super().__init__(members)
        self.text = text

    def __str__(self):
        return self.text

    # asyncio.gather keeps what it is given in a dict.
    __hash__ = object.__hash__


class SkillList(at_once.AtOnce, list):
    """The skills there are. Printed, it is text to read."""

    def __init__(self, skills=(), text=""):
        super().__init__(skills)
        self.text = text

    def __str__(self):
        return self.text

    __hash__ = object.__hash__


SkillSource.__module__ = SkillAnswer.__module__ = SkillList.__module__ = "gristmill"


def begin_run():
    """Forgets what an earlier run saved."""
    global _is_older, _names_now
    _is_older, _names_now = False, None
    _changed.clear()
    _imported.clear()


def continue_run():
    """The interpreter has stayed: others may have saved skills since, so every import looks again."""
    global _is_older, _names_now
    _is_older, _names_now = True, None
    _changed.clear()
    for module in _imported:
        _take_away(module)


def note_import(module, name, source):
    """Remembers what a module was made of, as bytes."""
    _imported[name] = (module, source)


def imported_before(name, source):
    """The module that an earlier program made of this very source, or None."""
    module, made_of = _imported.get(name, (None, None))
    # What it took from other skills may have changed, so such a one is made again.
    return module if made_of == source and not _uses_skills(source) else None


def _uses_skills(source):
    return b"skills" in source


def _change(name, source):
    """From now on the skill has this source, or is gone: the next import finds it so."""
    _changed[name] = source
    folded = names.fold(name)
    for module, (_, made_of) in list(_imported.items()):
        is_it = names.fold(module.partition(".")[2]) == folded
        if is_it and source is not None and made_of == source.encode():
            return
        if is_it or _uses_skills(made_of):
            del _imported[module]
            _take_away(module)


def _take_away(module):
    sys.modules.pop(module, None)
    package, _, written = module.partition(".")
    if package in sys.modules:
        vars(sys.modules[package]).pop(written, None)


def known():
    """The names of all skills that can be imported, sorted."""
    found = {name for name in _lying() if _changed.get(name, "") is not None}
    found.update(name for name, source in _changed.items() if source is not None)
    return sorted(found)


def own_source(name):
    """The source of a skill that does not lie in /skills as it is: saved by this run, or since. Or None."""
    if _is_older and name not in _changed:
        code = _loaded(name).get("code")
        if type(code) is str:
            _changed[name] = code
    return _changed.get(name)


def waiting():
    """The names of a project's skills that wait for the user, as they were when the program began."""
    try:
        with _open(f"{SKILLS}/{WAITING_FILE}", encoding="utf-8", errors="replace") as file:
            return file.read(WAITING_CHARS_MAX).split()
    except OSError:
        return []


def why_waiting(name):
    """What to say to somebody who imports a skill that waits, or None."""
    found = names.matching(name[:NAME_CHARS_MAX], waiting())
    if found is None:
        return None
    return (
        f"skill {found} of this project isn't approved yet: ask the user to run `gristmill skills show {found}`, "
        f"then `gristmill skills approve {found}`"
    )


def in_typescript(name):
    """The name of the skill in TypeScript that is meant, or None: it can be read, and not imported here."""
    written = name[:NAME_CHARS_MAX]
    there = [file[: -len(".ts")] for file in catalogue.listed(SKILLS) if file.endswith(".ts")]
    found = names.matching(written, [name for name in there if _changed.get(name, "") is not None])
    if _is_older:
        found = found or written
        return found if _loaded(found).get("language") == "typescript" else None
    return found


def why_typescript(name):
    """What to say to somebody who imports a skill that isn't Python, or None."""
    found = in_typescript(name)
    if found is None:
        return None
    return (
        f"the skill {found} is written in TypeScript, so only TypeScript programs import it: "
        f'`import ... from "skills/{found}"` with language "typescript"; load_skill("{found}") reads its source'
    )


def _loaded(name):
    return _ask("load_skill", {"action": "load", "name": name})


def _lying():
    global _names_now
    if not _is_older:
        return catalogue.stems(SKILLS)
    if _names_now is None:
        there = _ask("list_skills", {"action": "names"}).get("names")
        _names_now = [name for name in there if type(name) is str] if type(there) is list else []
    return _names_now


def load_skill(name):
    """The source of a skill, for reading or `exec`; `from skills.name import function` uses it. Needs no await."""
    found = names.matching(_text("load_skill", "name", name)[:NAME_CHARS_MAX], known())
    ending = "py"
    if found is None:
        found, ending = in_typescript(name), "ts"
    if found is None:
        raise _unknown(name)
    source = own_source(found) if ending == "py" else _loaded(found).get("source") if _is_older else None
    if source is None:
        try:
            with _open(f"{SKILLS}/{found}.{ending}", encoding="utf-8") as file:
                source = file.read()
        except OSError:
            raise _unknown(name) from None
    return SkillSource(source)


def described(name):
    """What describes a skill that is taken for a tool, `skills.name` or its name alone. Or None."""
    shelf, dot, written = name[:NAME_CHARS_MAX].rpartition(".")
    if dot and names.fold(shelf) not in _SHELVES:
        return None
    found = names.matching(written, known())
    head = f"A skill: import it in a program, such as `import skills.{found}`.\n\n"
    if found is None:
        found = in_typescript(written)
        head = f'A skill: import it in a TypeScript program, such as `import * as {found} from "skills/{found}"`.\n\n'
    if found is None:
        return None
    # What describes it lies in /skills only if it is as it was when the program began.
    if own_source(found) is None:
        try:
            with _open(f"{SKILLS}/{found}.md", encoding="utf-8") as file:
                return head + file.read()
        except OSError:
            pass
    return head + load_skill(found)


# What skills are called among the servers that a search shows.
_SHELVES = ("skills", "savedskills")


def list_skills(query="", tags=None):
    """The skills that are saved, found by what they do; each has `name`, `description` and `use`. Needs no await."""
    asked = {"action": "list", "query": _text("list_skills", "query", query), "tags": _texts("list_skills", tags) or []}
    answer = _ask("list_skills", asked)
    listed = answer.get("skills")
    return SkillList(listed if type(listed) is list else (), _told(answer))


def save_skill(name, code, description="", test=None, tags=()):
    """Saves code that later programs import: `from skills.name import function`. Needs no await.

    `test` is Python source with asserts, or {"call": "total([1, 2])", "expect": 3}; if it fails nothing is saved.
    """
    asked = {
        "action": "save",
        "name": _text("save_skill", "name", name),
        "code": _text("save_skill", "code", code),
        "description": _text("save_skill", "description", description or ""),
        "tags": _texts("save_skill", tags),
        "test": _test(test),
    }
    answer = _ask("save_skill", asked)
    saved, source = answer.get("name"), answer.pop("code", None)
    if type(saved) is str and type(source) is str:
        _change(saved, source)
    return SkillAnswer({key: value for key, value in answer.items() if key != "text"}, _told(answer))


def delete_skill(name):
    """Deletes a skill; its history is kept. Needs no await."""
    answer = _ask("delete_skill", {"action": "delete", "name": _text("delete_skill", "name", name)})
    if type(answer.get("name")) is str:
        _change(answer["name"], None)
    return SkillAnswer({"name": answer.get("name")}, _told(answer))


def _ask(helper, asked):
    line = tools.program_line()
    asked["line"] = line
    payload = encoding.to_json({key: value for key, value in asked.items() if value is not None})
    if len(payload) > tools.PAYLOAD_CHARS_MAX:
        message = f"what {helper} sends is {len(payload):,} characters; at most {tools.PAYLOAD_CHARS_MAX:,} can be sent"
        raise _failure(message, helper, line, "GM-1208", "limit")
    ok, answer = loop.current().calls.ask("skill", payload)
    if not ok:
        error = tools.error_from(answer, helper)
        error.line = line
        raise error
    try:
        answer = encoding.from_json(answer)
    except (ValueError, RecursionError):
        answer = None
    if type(answer) is not dict:
        raise _failure(f"the answer to {helper} can't be read", helper, line, None, "skill")
    return answer


def _told(answer):
    text = answer.get("text")
    return text if type(text) is str else ""


def _unknown(name):
    waits = why_waiting(name)
    if waits is not None:
        return _failure(waits, "load_skill", tools.program_line(), "GM-1401")
    there = known()
    close = difflib.get_close_matches(name[:NAME_CHARS_MAX], there, 1)
    if close:
        said = f'did you mean "{close[0]}"?'
    else:
        said = f"there are: {', '.join(there[:LISTED_MAX])}" if there else "none are saved yet"
    return _failure(f'there is no skill "{name[:NAME_CHARS_MAX]}"; {said}', "load_skill", tools.program_line(), "GM-1401")


def _failure(message, helper, line, code, kind="unknown_skill"):
    error = tools.ToolError(message, tool=helper, code=code, kind=kind)
    error.line = line
    return error


def _text(helper, argument, value):
    if not isinstance(value, str):
        raise TypeError(f"{argument} of {helper} must be text, not {type(value).__name__}")
    return str.__str__(value)


def _texts(helper, tags):
    if tags is None or (not isinstance(tags, str) and not tags):
        return None
    if isinstance(tags, str):
        tags = [tags]
    if not isinstance(tags, collections.abc.Iterable):
        raise TypeError(f"tags of {helper} must be a list of strings, not {type(tags).__name__}")
    return [_text(helper, "each of tags", tag) for tag in tags]


def _test(test):
    if test is None or isinstance(test, str):
        return test
    if not isinstance(test, collections.abc.Mapping):
        raise TypeError(f"test of save_skill is {_TEST_FORMS}, not {type(test).__name__}")
    for key in ("call", "expect"):
        if key not in test:
            raise TypeError(f'test of save_skill has no "{key}"; it is {_TEST_FORMS}')
    for key in test:
        if key not in ("call", "expect"):
            raise TypeError(f"test of save_skill cannot have {str(key)[:NAME_CHARS_MAX]!r}; it is {_TEST_FORMS}")
    return encoding.plain_arguments(test)


_TEST_FORMS = 'Python source with asserts, or an example: {"call": "total([1, 2])", "expect": 3}'
