"""Names that a program can write, made from names that a server chose.

The gateway names the files of the tree by the same rules (`catalogue/names.rs` in the domain crate).
"""

import re

# Longer than any sensible name.
NAME_CHARS_MAX = 100

# Words that are no name in Python or in TypeScript.
RESERVED = frozenset(
    """
    False None True abstract and any arguments as assert async await boolean break case catch class const
    constructor continue debugger declare def default del delete do elif else enum eval except export extends
    false finally for from function get global if implements import in instanceof interface is lambda let match
    module namespace never new nonlocal not null number object or package pass private protected public raise
    readonly return set static string super switch symbol this throw true try typeof undefined unknown var void
    while with yield
    """.split()
)

_NOT_PLAIN = re.compile("[^A-Za-z0-9_]")
_NOT_FOLDED = re.compile(r"[\W_]")


def identifier(name):
    """The name as an identifier of both languages: unchanged if it is one."""
    made = _NOT_PLAIN.sub("_", name[:NAME_CHARS_MAX]) or "_"
    if made[0].isdigit():
        made = "_" + made
    # A leading underscore pair is Python's own.
    while made.startswith("__"):
        made = made[1:]
    return made + "_" if made in RESERVED else made


def fold(name):
    """The name without what two spellings of it may differ in: `getDocument` and `get-document_` fold alike."""
    return _NOT_FOLDED.sub("", name.lower())


def folds(name):
    """What a name that a program wrote may fold to: as written, and as the tree spells it."""
    return {fold(name), fold(identifier(name))} - {""}


def matching(name, known):
    """The one of `known` that is meant, in any spelling; the exact one wins. None if there is none."""
    if name in known:
        return name
    wanted = folds(name)
    alike = [candidate for candidate in known if fold(candidate) in wanted]
    for candidate in alike:
        if identifier(candidate) == name:
            return candidate
    return alike[0] if alike else None
