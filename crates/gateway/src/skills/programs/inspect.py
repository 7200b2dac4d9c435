# Reads the source of a skill, which is in `source`, without running any of it.
import ast

FUNCTIONS_MAX = 100
NAMES_MAX = 200
DOC_CHARS_MAX = 1000
PARAMETERS_MAX = 50
PARAMETER_CHARS_MAX = 200


def shortened(text, chars_max):
    return text if len(text) <= chars_max else text[:chars_max] + "\u2026"


def documented(node):
    return shortened(ast.get_docstring(node) or "", DOC_CHARS_MAX)


def one_parameter(argument, default=None, mark=""):
    text = mark + argument.arg
    if argument.annotation is not None:
        text += ": " + ast.unparse(argument.annotation)
    if default is not None:
        text += (" = " if argument.annotation is not None else "=") + ast.unparse(default)
    return shortened(text, PARAMETER_CHARS_MAX)


def parameters(arguments):
    plain = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    found = [one_parameter(*pair) for pair in zip(plain, defaults)]
    if arguments.vararg is not None:
        found.append(one_parameter(arguments.vararg, mark="*"))
    elif arguments.kwonlyargs:
        found.append("*")
    found += [one_parameter(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg is not None:
        found.append(one_parameter(arguments.kwarg, mark="**"))
    return found[:PARAMETERS_MAX]


def functions(tree):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in tree.body:
        if isinstance(node, kinds) and not node.name.startswith("_"):
            yield {
                "name": node.name,
                "parameters": parameters(node.args),
                "doc": documented(node),
                "is_async": isinstance(node, ast.AsyncFunctionDef),
            }


def dotted(node):
    """`servers.crm.find` as its parts, or None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None


class Reader:
    """Modules that are imported, and tools that are called."""

    def __init__(self, tree):
        self.imports = {}
        self.tools = {}
        # What a name of the source stands for: parts of a path that begins with `servers`.
        self.known = {"servers": ["servers"]}
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import):
                self.import_plain(node)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                self.import_from(node)
        for node in nodes:
            if isinstance(node, ast.Call):
                self.call(node)

    def note_import(self, module):
        self.imports[module if module.startswith("skills.") else module.split(".")[0]] = True

    def import_plain(self, node):
        for alias in node.names:
            self.note_import(alias.name)
            parts = alias.name.split(".")
            if parts[0] == "servers" and alias.asname:
                self.known[alias.asname] = parts

    def import_from(self, node):
        self.note_import(node.module)
        parts = node.module.split(".")
        if parts[0] != "servers":
            return
        for alias in node.names:
            if alias.name == "*":
                continue
            path = [*parts, alias.name]
            self.known[alias.asname or alias.name] = path
            if len(parts) == 2:
                self.note_tool(path)

    def note_tool(self, path):
        self.tools[".".join(path[1:3])] = True

    def call(self, node):
        parts = dotted(node.func)
        if parts is None:
            return
        if parts[-1] in ("callMCPTool", "call_mcp_tool"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                self.tools[shortened(first.value, PARAMETER_CHARS_MAX)] = True
            return
        path = self.known.get(parts[0], []) + parts[1:]
        if len(path) >= 3:
            self.note_tool(path)


def analyzed(source):
    try:
        tree = ast.parse(source, "skill.py")
        # Some mistakes are found only here, such as `return` outside of a function.
        compile(source, "skill.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        message = error.msg or "invalid syntax"
        if "await" in message and "outside" in message:
            message += "; a skill is imported, so `await` goes into an async function"
        return {"error": {"message": message, "line": error.lineno}}
    except (RecursionError, MemoryError, ValueError) as error:
        return {"error": {"message": f"it cannot be read: {error}", "line": None}}
    reader = Reader(tree)
    return {
        "doc": documented(tree),
        "functions": list(functions(tree))[:FUNCTIONS_MAX],
        "imports": sorted(reader.imports)[:NAMES_MAX],
        "tools": [{"name": name} for name in sorted(reader.tools)[:NAMES_MAX]],
    }


result = analyzed(source)
