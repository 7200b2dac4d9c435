"""What to write instead where a program takes a value for something else: a wrong key, an attribute of a dict, text
that is no dict. Answers of tools are the usual case."""

import ast
import difflib
import itertools
import re
import types

from gristmill_guest import answers, encoding, failed_expression, state_values
from gristmill_guest.failed_expression import UNKNOWN, written

KEYS_TOLD_MAX = 20
KEYS_LOOKED_AT_MAX = 1000
TEXT_TOLD_MAX = 40

# What other libraries wrap an answer in.
WRAPPERS = frozenset(
    "content text structuredContent structured_content isError is_error data result results json status_code body "
    "value output response payload".split()
)
PLAIN = "tool answers are plain values"

_WRONG_INDEX = re.compile(r"(list|tuple) indices must be integers or slices, not (\w+)")
_MODULE_AS_VALUE = re.compile(r"'module'|argument of type 'module'|type\(s\) for .*'module'")


def for_key(error):
    """A KeyError: the keys that are there, and the nearest."""
    failed = failed_expression.of(error)
    if failed is None or not error.args:
        return None
    key = error.args[0]
    node = failed.node(ast.Subscript, ast.Call)
    container = _container(node)
    value = failed.value(container) if container is not None else UNKNOWN
    if type(value) is state_values.State:
        return f"state has no {_quoted(key)} yet: write state.get({_quoted(key)}) to get None instead"
    if not failed.is_last:
        return None
    if isinstance(value, dict):
        return _keys_hint(key, value, written(container) or "it", answers.tool_of(value))
    return None


def _container(node):
    """The expression whose member was asked for: `d` of `d["x"]` and of `d.pop("x")`."""
    if isinstance(node, ast.Subscript):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
        return node.func.value
    return None


def _keys_hint(key, value, expression, tool):
    has = _has(value, f"the answer of {tool}" if tool else expression)
    if type(key) is str and key in WRAPPERS and tool:
        return f"{PLAIN}: {has}"
    near = _nearest(key, _text_keys(value))
    return has if near is None else f'write "{near}": {has}'


def _has(value, whose):
    """What a dict has, in words."""
    count = dict.__len__(value)
    if count == 0:
        return f"{whose} is empty"
    # Keys of other types are shown only where that runs no code of the program.
    first = itertools.islice(dict.keys(value), KEYS_TOLD_MAX)
    told = [key[:60] if type(key) is str else repr(key) for key in first if type(key) in (str, int, float, bool)]
    if not told:
        return f"{whose} has {count:,} keys"
    left = count - len(told)
    return f"{whose} has {', '.join(told)}{f' and {left:,} more' if left else ''}"


def _text_keys(value):
    return [key for key in itertools.islice(dict.keys(value), KEYS_LOOKED_AT_MAX) if type(key) is str]


def _nearest(key, keys):
    if type(key) is not str:
        return None
    folded = {_fold(name): name for name in reversed(keys)}
    if _fold(key) in folded:
        return folded[_fold(key)]
    close = difflib.get_close_matches(_fold(key), folded, 1, 0.6)
    if close:
        return folded[close[0]]
    inside = [name for fold, name in folded.items() if len(fold) > 2 and (fold in _fold(key) or _fold(key) in fold)]
    return inside[0] if len(inside) == 1 and len(key) > 2 else None


def _fold(name):
    return name.replace("_", "").replace("-", "").replace(" ", "").casefold()


def for_attribute(error):
    """An AttributeError of plain data: how its members are reached."""
    name, value = error.name, error.obj
    if type(name) is not str:
        return None
    failed = failed_expression.of(error)
    node = failed.node(ast.Attribute) if failed is not None else None
    expression = (written(node.value) if node is not None else None) or "it"
    if isinstance(value, dict):
        return _attribute_of_dict(name, value, expression)
    if isinstance(value, (list, tuple)):
        return _attribute_of_list(name, value, expression)
    if isinstance(value, str):
        return _attribute_of_text(name, value, expression)
    if value is None:
        return f"{expression} is None here"
    return None


_DICT_METHODS = {"has_key": "key in {}", "iteritems": "{}.items()", "itervalues": "{}.values()", "iterkeys": "{}"}


def _attribute_of_dict(name, value, expression):
    if dict.__contains__(value, name):
        return f'write {expression}["{name}"]: dict keys aren\'t attributes'
    if name in _DICT_METHODS:
        return f"this is Python 3: write {_DICT_METHODS[name].format(expression)}"
    if name == "length":
        return f"this is Python: write len({expression})"
    has = _has(value, expression)
    if name in WRAPPERS:
        return f"{PLAIN}, without .{name}: {has}"
    near = _nearest(name, _text_keys(value))
    return f'write {expression}["{near}"]: {has}' if near else f"{expression} is a dict: {has}"


_LIST_METHODS = {
    "push": "{}.append(...)",
    "length": "len({})",
    "size": "len({})",
    "map": "[f(x) for x in {}]",
    "filter": "[x for x in {} if ...]",
    "forEach": "for x in {}: ...",
    "includes": "x in {}",
    "concat": "{} + other",
    "join": '", ".join({})',
    "slice": "{}[start:end]",
    "find": "next((x for x in {} if ...), None)",
    "add": "{}.append(...)",
}


def _attribute_of_list(name, value, expression):
    if name in _LIST_METHODS:
        return f"this is Python: write {_LIST_METHODS[name].format(expression)}"
    return _is_list(name, value, expression, f"{PLAIN}, without .{name}: " if name in WRAPPERS else "")


def _is_list(key, value, expression, before=""):
    """How to reach a member of the items of a list."""
    count = f"{len(value):,} item{'' if len(value) == 1 else 's'}"
    row = value[0] if value else None
    if not isinstance(row, dict):
        return f"{before}{expression} is a list of {count}"
    near = _nearest(key, _text_keys(row))
    has = f"{before}{_has(row, f'{expression} is a list of {count}; each')}"
    return f'{has}: write {expression}[0]["{near}"], or loop over it' if near else has


_TEXT_METHODS = {
    "length": "len({})",
    "toUpperCase": "{}.upper()",
    "toLowerCase": "{}.lower()",
    "trim": "{}.strip()",
    "includes": "x in {}",
    "startsWith": "{}.startswith(...)",
    "endsWith": "{}.endswith(...)",
    "substring": "{}[start:end]",
}


def _attribute_of_text(name, value, expression):
    if name in _TEXT_METHODS:
        return f"this is Python: write {_TEXT_METHODS[name].format(expression)}"
    if name == "decode":
        return f"{expression} is already text: drop .decode()"
    if name in WRAPPERS:
        return f"{PLAIN}, without .{name}: {_is_text(value, expression)}"
    return _is_text(value, expression) if name in ("get", "keys", "items", "values", "append") else None


def _is_text(value, expression):
    told = f"{expression} is text: {encoding.quote(value[:TEXT_TOLD_MAX])}"
    if len(value) > TEXT_TOLD_MAX:
        told += "…"
    return f"{told}; if it is JSON, write json.loads({expression})" if value.lstrip()[:1] in ("{", "[") else told


def for_index(error):
    """An IndexError: how many there are."""
    failed = failed_expression.of(error)
    node = failed.node(ast.Subscript) if failed is not None and failed.is_last else None
    value = failed.value(node.value) if node is not None else UNKNOWN
    expression = written(node.value) if node is not None else None
    if expression is None or type(value) not in (list, tuple, str):
        return None
    if not value:
        return f"{expression} is empty"
    what = "characters" if type(value) is str else "items"
    return f"{expression} has {len(value):,} {what}; the last is {expression}[-1]"


def for_type(error, message):
    """A TypeError of a value that is something else than the program takes it for."""
    if message.startswith("the JSON object must be str, bytes or bytearray, not"):
        given = message.rpartition(" ")[2]
        if given in ("dict", "list", "int", "float", "bool"):
            return "it's already parsed: use it as is, without json.loads"
        return "a coroutine isn't text: write await in front of the call" if given == "coroutine" else None
    failed = failed_expression.of(error)
    if failed is None or not failed.is_last:
        return None
    node = failed.node(ast.Subscript, ast.Call, ast.For)
    if _MODULE_AS_VALUE.search(message):
        return _of_module(failed, message)
    if not isinstance(node, ast.Subscript):
        return None
    value, expression = failed.value(node.value), written(node.value) or "it"
    key = failed.value(node.slice)
    if _WRONG_INDEX.match(message) and isinstance(value, (list, tuple)) and type(key) is str:
        return _is_list(key, value, expression)
    if message.startswith("string indices must be integers") and isinstance(value, str):
        over = failed.looped_over(node.value)
        if isinstance(over, dict) and dict.__contains__(over, value):
            return _looped_over(over, failed.loop_text(node.value) or "it", expression)
        return _is_text(value, expression)
    if message.startswith("'NoneType' object is not subscriptable"):
        return f"{expression} is None here" if expression != "it" else None
    return None


def _looped_over(value, expression, item):
    """A dict whose keys were taken for its rows: where those are."""
    gives_keys = "looping over a dict gives its keys"
    members = list(itertools.islice(dict.items(value), KEYS_LOOKED_AT_MAX))
    if all(type(member) is dict for _, member in members):
        return f"{gives_keys}: write for {item} in {expression}.values()"
    lists = [key for key, member in members if type(key) is str and _is_rows(member)]
    if len(lists) == 1:
        return f"{gives_keys}: write for {item} in {expression}[{_quoted(lists[0])}]"
    return f"{gives_keys}: {_has(value, expression)}"


def _is_rows(value):
    return type(value) is list and len(value) > 0 and type(value[0]) is dict


def _of_module(failed, message):
    """A module of the library that stands in for a variable, or that is called like its function."""
    for node in _names_on(failed):
        module = failed.value(node)
        if type(module) is not types.ModuleType:
            continue
        if "not callable" in message:
            function = node.id if node.id in vars(module) else "function"
            return f"{node.id} is a module: write {node.id}.{function}(...)"
        return f"{node.id} is the module here: this program never sets a variable {node.id}"
    return None


def _names_on(failed):
    try:
        tree = ast.parse(f"{failed.line} pass" if failed.line.endswith(":") else failed.line)
    except (SyntaxError, ValueError):
        tree = failed.node(ast.Call, ast.Subscript, ast.BinOp, ast.Compare)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name)] if tree is not None else []


def for_json(error):
    """A JSONDecodeError: what the text is instead."""
    text = getattr(error, "doc", None)
    if type(text) is not str:
        return None
    if not text.strip():
        return "the text is empty"
    if text.lstrip()[:2] in ("{'", "['"):
        return "this is Python syntax, not JSON: write ast.literal_eval(text)"
    if text.lstrip()[:1] in ("{", "["):
        return None
    return f"the text isn't JSON: it starts with {encoding.quote(text[:TEXT_TOLD_MAX])}"


def _quoted(key):
    return encoding.quote(key[:60]) if type(key) is str else repr(key)[:60]
