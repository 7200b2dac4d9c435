"""What of a tool is encoded, as `crates/domain/src/search/meaning.rs` has it."""

import re

WORDS_OF_ANY_SERVER = {"mcp", "modelcontextprotocol", "server"}
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def definition_parts(server, tool, description, arguments):
    """Two parts, the first of which ends with the first sentence."""
    words = [word for word in spaced(cut(server, 80)).split() if word not in WORDS_OF_ANY_SERVER]
    beginning = " ".join(dict.fromkeys(words))
    beginning = f"{beginning}: " if beginning else ""
    summary, rest = first_sentence(cut(description.strip(), 300))
    names = ", ".join(spaced(cut(argument, 40)) for argument in arguments[:12])
    return f"{beginning}{spaced(cut(tool, 120))}. {summary}", f"{rest} {names}"


def spaced(name):
    """An identifier as words."""
    return " ".join(word.lower() for run in re.findall(r"[^\W_]+", name) for word in WORDS.findall(run))


def first_sentence(text):
    head = cut(text, 240)
    ends = [head.find(mark) for mark in (". ", ".\n", "\n\n") if mark in head]
    end = min(ends, default=len(head))
    return text[:end], text[end:]


def cut(text, bytes_max):
    return text.encode()[:bytes_max].decode("utf-8", "ignore")
