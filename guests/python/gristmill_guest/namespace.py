"""What a program finds in its globals, and which context names may be added."""

import asyncio
import builtins
import http
import json
import keyword
import linecache
import sys
import types

from gristmill_guest import (
    analyze,
    at_once,
    describe,
    files,
    gateway_names,
    guide,
    http_requests,
    privacy,
    read_resource,
    search,
    skills,
    state_values,
    tools,
)

HELPERS = {
    "callMCPTool": tools.callMCPTool,
    "call_mcp_tool": tools.callMCPTool,
    "ToolError": tools.ToolError,
    "search_tools": search.search_tools,
    "describe_tool": describe.describe_tool,
    "read_resource": read_resource.read_resource,
    "analyze": analyze.analyze,
    "load_skill": skills.load_skill,
    "list_skills": skills.list_skills,
    "save_skill": skills.save_skill,
    "delete_skill": skills.delete_skill,
    "list_directory": files.list_directory,
    "read_file": files.read_file,
    "write_file": files.write_file,
    "state": state_values.state,
    "reset": state_values.reset,
    "privacy": privacy.privacy,
    "sanitize_pii": privacy.sanitize_pii,
    "restore_pii": privacy.restore_pii,
    "help": guide.help,
}
# Words that callers use for data of their own: a context variable may stand in their place.
MAY_BE_HIDDEN = frozenset(("state", "reset", "privacy", "help"))
# What the helpers return, for annotations and copies.
TYPES = {
    "ToolHit": search.ToolHit,
    "ToolHits": search.ToolHits,
    "ToolStub": describe.ToolStub,
    "AnalysisError": analyze.AnalysisError,
    "StateError": state_values.StateError,
    "Response": http_requests.Response,
    **at_once.TYPES,
}
MODULES = {"asyncio": asyncio, "json": json}

# Programs of a session whose lines tracebacks can show; the oldest goes first.
SOURCES_MAX = 100

_shown = []


class ContextError(Exception):
    """A context variable that cannot become a global."""


def make_module(context, filename):
    """A fresh __main__ with the helpers and the context variables in it."""
    module = types.ModuleType("__main__")
    names = module.__dict__
    names["__builtins__"] = builtins
    names["__file__"] = filename
    names.update(MODULES)
    names.update(HELPERS)
    _add(context, names)
    sys.modules["__main__"] = module
    return module


def continue_module(module, context, filename):
    """The __main__ of the program before, with everything in it and these context variables."""
    names = module.__dict__
    _add(context, names)
    # Without them nothing runs.
    names["__builtins__"] = builtins
    names["__file__"] = filename
    sys.modules["__main__"] = module
    return module


def _add(context, names):
    # All or none.
    for name in context:
        _check_name(name)
    names.update(context)


def _check_name(name):
    if not name.isidentifier():
        raise ContextError(f'the context name "{name[:80]}" is not a Python identifier')
    if keyword.iskeyword(name):
        raise ContextError(f'the context name "{name}" is a Python keyword')
    if name.startswith("__") and name.endswith("__"):
        raise ContextError(
            f'the context name "{name[:80]}" is reserved: names with double underscores are Python\'s own'
        )
    if (name in HELPERS or name in MODULES) and name not in MAY_BE_HIDDEN:
        raise ContextError(f'the context name "{name}" would hide a built-in helper; choose another')


def make_importable():
    """`from gristmill import callMCPTool` works too. Done when the image is built."""
    module = types.ModuleType("gristmill", "The helpers that every program in the sandbox has.")
    module.__dict__.update(gateway_names.NAMES)
    module.__dict__.update(HELPERS)
    module.__dict__.update(TYPES)
    module.http = http
    module.__all__ = list(HELPERS)
    sys.modules["gristmill"] = module


def show_source(text, filename):
    """Lets tracebacks and inspect.getsource find the program's lines."""
    lines = [line + "\n" for line in text.split("\n")]
    linecache.cache[filename] = (len(text), None, lines, filename)
    _shown.append(filename)
    while len(_shown) > SOURCES_MAX:
        linecache.cache.pop(_shown.pop(0), None)


def forget_sources():
    while _shown:
        linecache.cache.pop(_shown.pop(), None)
