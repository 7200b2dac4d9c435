"""Imports from the trees beside the workspace: `servers` (tools) and `skills` (saved code).

`from servers.google_drive import getDocument` gives a function that calls the tool.
Nothing in /servers is executed: names of directories and files are all that counts,
and any spelling resolves that differs only in case, "_" and "-".
"""

import difflib
import importlib.machinery
import os
import sys
import types

from gristmill_guest import namespace, tools

SERVERS = "/servers"
SKILLS = "/skills"


class TreeFinder:
    """Finds `servers`, `servers.<server>`, `servers.<server>.<tool>` and `skills.<skill>`."""

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        if parts[0] == "servers":
            return self._server_spec(fullname, parts[1:]) or _refuse(fullname, parts, _directories(SERVERS))
        if parts[0] == "skills":
            return self._skill_spec(fullname, parts[1:]) or _refuse(fullname, parts, _stems(SKILLS))
        return None

    def invalidate_caches(self):
        pass

    def _server_spec(self, fullname, names):
        if len(names) == 0:
            found = os.path.isdir(SERVERS)
            loader = _TreeLoader(lambda module: _fill_root(module))
        elif len(names) == 1:
            server = _matching(names[0], _directories(SERVERS))
            found = server is not None
            loader = _TreeLoader(lambda module: _fill_server(module, server))
        elif len(names) == 2:
            server = _matching(names[0], _directories(SERVERS))
            tool = server and _matching(names[1], _tools(server))
            found = bool(tool)
            loader = _TreeLoader(lambda module: _fill_tool(module, server, tool))
        else:
            found = False
        if not found:
            return None
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=len(names) < 2)

    def _skill_spec(self, fullname, names):
        if not os.path.isdir(SKILLS) or len(names) > 1:
            return None
        if not names:
            return importlib.machinery.ModuleSpec(fullname, _TreeLoader(_fill_skills), is_package=True)
        skill = _matching(names[0], _stems(SKILLS))
        if skill is None:
            return None
        path = f"{SKILLS}/{skill}.py"
        spec = importlib.machinery.ModuleSpec(fullname, _SkillLoader(fullname, path), origin=path)
        spec.has_location = True
        return spec


def _refuse(fullname, parts, known):
    if len(parts) != 2:
        return None
    close = difflib.get_close_matches(parts[1], [_python_name(name) for name in known], 1)
    if close:
        said = f"did you mean '{parts[0]}.{close[0]}'?"
    else:
        said = f"there are: {', '.join(_python_name(name) for name in known[:40]) or 'none'}"
    raise ModuleNotFoundError(f"No module named '{fullname}'; {said}", name=fullname)


class _TreeLoader:
    def __init__(self, fill):
        self._fill = fill

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        self._fill(module)


class _SkillLoader(importlib.machinery.SourceFileLoader):
    """A skill finds the same helpers in its globals as the program that imports it."""

    def exec_module(self, module):
        module.__dict__.update(namespace.MODULES)
        module.__dict__.update(namespace.HELPERS)
        super().exec_module(module)


def _fill_root(module):
    module.__doc__ = "The tool servers: " + ", ".join(_directories(SERVERS))
    module.__all__ = [_python_name(name) for name in _directories(SERVERS)]
    _resolve_lazily(module, lambda name: _import_member(module, name, _directories(SERVERS)), module.__all__)


def _fill_server(module, server):
    names = _tools(server)
    module.__doc__ = f"The tools of {server}: " + ", ".join(names)
    module.__all__ = [_python_name(name) for name in names]

    def resolve(name):
        tool = _matching(name, _tools(server))
        return tool and caller(server, tool)

    _resolve_lazily(module, resolve, module.__all__)


def _fill_tool(module, server, tool):
    call = caller(server, tool)
    module.__all__ = [_python_name(tool)]
    _resolve_lazily(module, lambda name: call if _folded(name) == _folded(tool) else None, module.__all__)


def _fill_skills(module):
    module.__all__ = _stems(SKILLS)
    _resolve_lazily(module, lambda name: _import_member(module, name, _stems(SKILLS)), module.__all__)


def _resolve_lazily(module, resolve, names):
    def __getattr__(name):
        found = None if name.startswith("__") else resolve(name)
        if found is None:
            raise AttributeError(f"module '{module.__name__}' has no '{name}'; it has: {', '.join(names[:30])}")
        setattr(module, name, found)
        return found

    module.__getattr__ = __getattr__
    module.__dir__ = lambda: sorted(names)


def _import_member(package, name, known):
    if _matching(name, known) is None:
        return None
    __import__(f"{package.__name__}.{name}")
    return sys.modules[f"{package.__name__}.{name}"]


def caller(server, tool):
    """A function that calls one tool, with keywords or with one dict."""

    def call(arguments=None, /, **kwargs):
        return tools.callMCPTool(f"{server}.{tool}", arguments, **kwargs)

    call.__name__ = call.__qualname__ = _python_name(tool)
    call.__module__ = f"servers.{_python_name(server)}"
    call.__doc__ = f'Calls the tool {server}.{tool}; read_file("servers/{server}/{tool}.py") shows its arguments.'
    return call


def _matching(name, known):
    if name in known:
        return name
    folded = _folded(name)
    for candidate in known:
        if _folded(candidate) == folded:
            return candidate
    return None


def _folded(name):
    return "".join(character for character in name.casefold() if character.isalnum())


def _python_name(name):
    plain = "".join(character if character.isalnum() or character == "_" else "_" for character in name)
    return "_" + plain if plain[:1].isdigit() else plain


def _directories(path):
    return [name for name in _listed(path) if not name.startswith(".") and os.path.isdir(f"{path}/{name}")]


def _tools(server):
    return _stems(f"{SERVERS}/{server}")


def _stems(path):
    return [name[:-3] for name in _listed(path) if name.endswith(".py") and not name.startswith((".", "__"))]


def _listed(path):
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
