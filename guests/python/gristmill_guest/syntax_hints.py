"""What to write instead of a line that is no Python: prompts and fences, shell, JavaScript, broken characters."""

import re

from gristmill_guest import tool_imports

LINE_CHARS_MAX = 500

_SHELL = ("!", "curl ", "ls ", "cat ", "cd ", "mkdir ", "echo ", "sudo ", "apt ", "npm ", "npx ", "git ", "export ")
_INSTALLING = ("!pip", "%pip", "pip install", "pip3 install", "python -m pip", "!conda", "conda install")
_INSTALLING += ("!uv", "uv pip", "uv add", "!npm", "npm install", "!apt")

# What JavaScript has and Python has not. The first that fits is told.
_JAVASCRIPT = tuple(
    (re.compile(pattern), advice)
    for pattern, advice in (
        (r"^(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=", r"write \1 = ... without a keyword"),
        (r"^(?:export\s+)?(?:const|let|var)\s*[\[{]", "unpack the keys one at a time, such as a = answer['a']"),
        (r"^(?:export\s+)?(?:default\s+)?async\s+function\s+(\w+)", r"write async def \1(...):"),
        (r"^(?:export\s+)?(?:default\s+)?function\s+(\w+)", r"write def \1(...):"),
        (r"^import\s+.*\bfrom\s+['\"]", "write from module import name"),
        (r"^import\s*\{", "write from module import name"),
        (r"^(?://|/\*|\*/)", "comments start with #"),
        (r"^\}?\s*else\s+if\b", "write elif"),
        (r"^\}?\s*catch\b", "write except Exception as error:"),
        (r"^throw\b", "write raise ValueError(...)"),
        (r"===|!==", "write == or !="),
        (r"&&|\|\|", "write and, or"),
        (r"=>", "write lambda x: ..., or a def"),
        (r"\?\?|\?\.", "write x if x is not None else y"),
        (r"(?:\+\+|--)\s*;?\s*\)?$|\+\+\)", "write i += 1"),
        (r"\bnew\s+[A-Z]\w*\s*\(", "drop new"),
        (r"`", 'write f"...{name}..." for text with values in it'),
        (r"^(?:if|for|while|switch|try|do)\b.*\{\s*$", "blocks start with : and are indented"),
        (r"^\};?$|^\}\s*(?:else|finally)\b", "blocks are indented, without braces"),
        (r"(?:^|[(=,:\s])!\s*[\w(]", "write not x"),
        # Two words: one alone may be divided by.
        (r"\S\s+//\s*[A-Za-z]\w*\s+\w", "comments start with #"),
        (r"\?[^:]*:", "write a if condition else b"),
        (r"\bnull\b|\bundefined\b", "write None"),
    )
)


def for_syntax(error, message):
    line = error.text.strip()[:LINE_CHARS_MAX] if type(error.text) is str else ""
    return (
        _of_message(message, line)
        or _of_pasted(line)
        or _of_characters(message, line)
        or _of_javascript(line)
        or _of_import(line)
    )


def _of_message(message, line):
    if "'await' outside" in message:
        return "write async def for the function around it; await works there and at top level"
    if "'return' outside function" in message:
        return "set result = ..., or end with the expression"
    if any(f"{what} outside" in message for what in ("asynchronous comprehension", "'async for'", "'async with'")):
        return "write async def for the function around it"
    if "unterminated string literal" in message and not _has_literal_line_end(line):
        return 'for text over several lines, write """..."""'
    return None


def _of_pasted(line):
    if line.startswith(("```", "~~~")):
        return "remove the Markdown fences"
    if line.startswith((">>> ", ">>>", "... ")):
        return "remove the prompts (>>> and ...)"
    if line.startswith(_INSTALLING):
        return "remove the line: you can't install packages in the sandbox"
    if line.startswith("!") or (line.startswith(_SHELL) and "=" not in line.split(" ")[0] and "(" not in line):
        return "remove the line: the sandbox has no shell"
    if line.startswith("%"):
        return "remove the notebook magic (the line that starts with %)"
    return None


def _has_literal_line_end(line):
    return "\\n" in line


def _of_characters(message, line):
    if "line continuation character" in message and _has_literal_line_end(line):
        return "this is Python: the code has \\n as two characters where lines end; send real line breaks"
    if "invalid character" in message and any(mark in message for mark in "\u201c\u201d\u2018\u2019\u00ab\u00bb"):
        return "write plain quotes (\" or ') instead of typographic ones"
    if "invalid character" in message or "non-printable character" in message:
        return "replace the character; between words write a plain space"
    return None


# What stands in quotes, or behind a #, is no code.
_QUOTED = re.compile(r"""(["'])(?:\\.|(?!\1)[^\\])*\1|#.*""")


def _of_javascript(line):
    line = _QUOTED.sub(lambda found: (found.group(1) or "") * 2, line)
    for pattern, advice in _JAVASCRIPT:
        found = pattern.search(line)
        if found is not None:
            return f"this is Python: {found.expand(advice)}"
    return None


def _of_import(line):
    importable = tool_imports.as_written(line)
    return f"write: {importable}" if importable else None
