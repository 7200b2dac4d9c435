"""Imports from the trees beside the workspace: `servers` (tools) and `skills` (saved code).

`from servers.google_drive import getDocument` gives a function that calls the tool.
Nothing in /servers is executed: names of directories and files are all that counts,
and any spelling resolves that differs only in case, "_" and "-". A server that is known but has no
tools, because it is down, says so when it is imported.
"""

import difflib
import importlib.machinery
import os
import sys
import types

from gristmill_guest import catalogue, namespace, signature, skills, tool_imports, tools
from gristmill_guest.names import identifier, matching

# Modules made here, by name: a later run makes its own.
_made = set()


def begin_run():
    """Forgets the modules that an earlier run imported: the trees may have changed."""
    catalogue.begin_run()
    for name in _made:
        sys.modules.pop(name, None)
    _made.clear()


class TreeFinder:
    """Finds `servers`, `servers.<server>`, `servers.<server>.<tool>` and `skills.<skill>`."""

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        # Without the tree the name is free for a package of the workspace.
        if parts[0] == "servers" and catalogue.exists():
            spec = self._server_spec(fullname, parts[1:]) or _refuse(fullname, parts, _server_members(parts[1:]))
        elif parts[0] == "skills" and _are_skills_here():
            spec = self._skill_spec(fullname, parts[1:]) or _refuse(fullname, parts, skills.known())
        else:
            return None
        if spec is not None:
            _made.add(fullname)
        return spec

    def invalidate_caches(self):
        pass

    def _server_spec(self, fullname, names):
        if not names:
            return _package(fullname, _fill_root)
        server = catalogue.server_called(names[0]) or _not_shown_server(names[0])
        if server is None or len(names) > 2:
            return None
        if len(names) == 1:
            state = catalogue.why_down(server)
            if state is not None:
                raise ImportError(f"server {server} is down: {state}", name=fullname)
            return _package(fullname, lambda module: _fill_server(module, server))
        tool = _tool_called(server, names[1])
        if tool is None:
            return None
        loader = _TreeLoader(lambda module: _fill_tool(module, server, tool), _ToolModule)
        return importlib.machinery.ModuleSpec(fullname, loader)

    def _skill_spec(self, fullname, names):
        if len(names) > 1:
            return None
        if not names:
            return _package(fullname, _fill_skills)
        skill = matching(names[0], skills.known())
        if skill is None:
            return None
        path = f"{skills.SKILLS}/{skill}.py"
        spec = importlib.machinery.ModuleSpec(fullname, _SkillLoader(fullname, path), origin=path)
        spec.has_location = True
        return spec


def _not_shown_server(name):
    """One that may be there although the tree lacks it: whoever calls a tool of it hears what the gateway says."""
    if name.startswith("_") or not catalogue.is_partial() or catalogue.why_out_of_use(name) is not None:
        return None
    return name


def _tool_called(server, name):
    """The tool that is meant, or one that may be there although the tree lacks it."""
    tool = catalogue.tool_called(server, name)
    return name if tool is None and not name.startswith("_") and catalogue.is_partial() else tool


def _are_skills_here():
    """Whether the name means saved skills; where none can be used, a package of the workspace has it."""
    if skills.known():
        return True
    if skills.waiting():
        return importlib.machinery.PathFinder.find_spec("skills") is None
    return os.path.isdir(skills.SKILLS)


def _package(fullname, fill):
    return importlib.machinery.ModuleSpec(fullname, _TreeLoader(fill), is_package=True)


def _server_members(names):
    """What the last of the names could have been."""
    if len(names) == 2:
        server = catalogue.server_called(names[0])
        return catalogue.tools(server) if server is not None else []
    return catalogue.servers()


def _refuse(fullname, parts, known):
    if len(parts) != 2 and (len(parts) != 3 or parts[0] == "skills"):
        return None
    disabled = catalogue.why_out_of_use(parts[1]) if parts[0] == "servers" else None
    if disabled is not None:
        raise ModuleNotFoundError(f"No module named 'servers.{parts[1]}': {disabled}", name=fullname)
    if parts[0] == "servers" and not catalogue.servers():
        raise ModuleNotFoundError(f"No module named '{fullname}': {tool_imports.NO_SERVERS}", name=fullname)
    waits = skills.why_waiting(parts[1]) if parts[0] == "skills" else None
    if waits is not None:
        raise ModuleNotFoundError(f"No module named '{fullname}'; {waits}", name=fullname)
    other = skills.why_typescript(parts[1]) if parts[0] == "skills" and len(parts) == 2 else None
    if other is not None:
        raise ModuleNotFoundError(f"No module named '{fullname}': {other}", name=fullname)
    known = [identifier(name) for name in known]
    close = difflib.get_close_matches(parts[-1], known, 1)
    if close:
        said = f"did you mean '{'.'.join([*parts[:-1], close[0]])}'?"
    else:
        said = f"there are: {', '.join(known[:40]) or 'none'}"
    if len(parts) == 3:
        said += _beside(catalogue.server_called(parts[1]))
    raise ModuleNotFoundError(f"No module named '{fullname}'; {said}", name=fullname)


def _beside(server):
    """A tool that is not there may be one that is held back."""
    said = server and catalogue.state(server)
    return f"; {said}" if said else ""


class _ToolModule(types.ModuleType):
    """The module of one tool. It stands under the name of the tool's function, so it is called like it."""

    def __call__(self, /, *arguments, **kwargs):
        return self.__dict__["__call__"](*arguments, **kwargs)


class _TreeLoader:
    def __init__(self, fill, module_type=types.ModuleType):
        self._fill = fill
        self._module_type = module_type

    def create_module(self, spec):
        return self._module_type(spec.name)

    def exec_module(self, module):
        self._fill(module)


class _SkillLoader(importlib.machinery.SourceFileLoader):
    """A skill finds the same helpers in its globals as the program that imports it."""

    _data = None
    _is_made = False

    def create_module(self, spec):
        module = skills.imported_before(self.name, self.get_data(self.path))
        self._is_made = module is not None
        return module

    def exec_module(self, module):
        if self._is_made:
            return
        module.__dict__.update(namespace.MODULES)
        module.__dict__.update(namespace.HELPERS)
        super().exec_module(module)
        skills.note_import(module, self.name, self.get_data(self.path))

    def get_data(self, path):
        if self._data is None:
            # What this run saved lies nowhere yet.
            saved = skills.own_source(path.rpartition("/")[2].removesuffix(".py"))
            self._data = super().get_data(path) if saved is None else saved.encode()
        return self._data

    def path_stats(self, path):
        # Nothing is compiled ahead, and nothing could be written.
        raise OSError("a skill has no cached code")


def _fill_root(module):
    module.__doc__ = "The tool servers; dir(servers) lists them."

    def up():
        return [identifier(name) for name in catalogue.servers() if catalogue.why_down(name) is None]

    def resolve(name):
        found = _import_member(module, name, catalogue.servers())
        hidden = _not_shown_server(name) if found is None else None
        return found if hidden is None else _import_member(module, name, [hidden])

    _resolve_lazily(module, resolve, up)


def _fill_server(module, server):
    module.__doc__ = f"The tools of {server}; dir(servers.{identifier(server)}) lists them."

    def named():
        return [identifier(name) for name in catalogue.tools(server)]

    def resolve(name):
        tool = _tool_called(server, name)
        return tool and caller(server, tool, name)

    module.__dict__["__beside__"] = lambda: _beside(server)
    _resolve_lazily(module, resolve, named, lambda: _beside(server))


def _fill_tool(module, server, tool):
    call = caller(server, tool)
    module.__doc__ = call.__doc__
    module.__dict__["__call__"] = call
    _resolve_lazily(module, lambda name: call if matching(name, [tool]) else None, lambda: [identifier(tool)])


def _fill_skills(module):
    """Its members are those there are when somebody asks: a program saves and deletes some."""

    def __getattr__(name):
        if name == "__all__":
            return skills.known()
        found = None if name.startswith("__") else _import_member(module, name, skills.known())
        if found is None:
            listed = ", ".join(skills.known()[:30]) or "nothing"
            raise AttributeError(f"module '{module.__name__}' has no '{name}'; it has: {listed}")
        return found

    module.__getattr__ = __getattr__
    module.__dir__ = skills.known


def _resolve_lazily(module, resolve, names, beside=lambda: ""):
    """`names` lists what the module is known to have; only who asks for all of it has to wait for that."""

    def __getattr__(name):
        if name == "__all__":
            return names()
        found = None if name.startswith("__") else resolve(name)
        if found is None:
            listed = ", ".join(names()[:30]) or "nothing"
            raise AttributeError(f"module '{module.__name__}' has no '{name}'; it has: {listed}{beside()}")
        setattr(module, name, found)
        return found

    module.__getattr__ = __getattr__
    module.__dir__ = lambda: sorted(names())


def _import_member(package, name, known):
    if matching(name, known) is None:
        return None
    __import__(f"{package.__name__}.{name}")
    return sys.modules[f"{package.__name__}.{name}"]


def caller(server, tool, written=None):
    """A function that calls one tool, with keywords or with one dict. `written` is its name in the program."""
    written = written or identifier(tool)

    def call(*arguments, **kwargs):
        if not tools.are_arguments(arguments):
            raise TypeError(_by_name(server, tool, written))
        return tools.call(f"{server}.{tool}", arguments[0] if arguments else None, kwargs, written)

    call.__name__ = call.__qualname__ = identifier(tool)
    call.__module__ = f"servers.{identifier(server)}"
    call.__doc__ = f'Calls the tool {server}.{tool}; read_file("servers/{server}/{tool}.py") shows its arguments.'
    return call


PARAMETERS_TOLD_MAX = 12


def _by_name(server, tool, written):
    """What to write instead of arguments without names."""
    try:
        parameters = signature.parameters(catalogue.stub(server, tool, "py"), tool)
    except OSError:
        parameters = None
    if parameters is None:
        return f"pass the arguments by name, such as {written}(name=value)"
    if not parameters:
        return f"{written} takes no arguments"
    # What has to be there comes first, in the order that the stub has.
    parameters.sort(key=lambda parameter: not parameter[1])
    needed = [name for name, required in parameters if required] or [parameters[0][0]]
    example = ", ".join(f"{name}=\u2026" for name in needed[:PARAMETERS_TOLD_MAX])
    told = [f"{name} (required)" if required else name for name, required in parameters]
    left = "" if len(told) <= PARAMETERS_TOLD_MAX else ", \u2026"
    return f"pass the arguments by name: {written}({example}); it takes {', '.join(told[:PARAMETERS_TOLD_MAX])}{left}"
