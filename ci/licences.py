"""Fails when a dependency's licence is not one we may ship.

Reads what cargo has already fetched (`cargo metadata --locked --offline`), the Python guest's
lock file with the licence table in its README, and the same of the encoder's weights. Needs no network
and nothing beyond Python.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Permissive, or (MPL-2.0) with duties that end at the file. Exceptions count only as written here.
ALLOWED = frozenset(
    licence.lower()
    for licence in (
        "0BSD",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "Unicode-3.0",
        "Unicode-DFS-2016",
        "Zlib",
    )
)


# What Gristmill is built for: what only another system would need is not shipped.
PLATFORMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
)


class NotAnExpression(ValueError):
    """The text is not an SPDX licence expression."""


def is_satisfied(expression, allowed=ALLOWED):
    """Whether the allowed licences are enough to fulfil an SPDX expression."""
    return _Expression(expression).value(allowed)


class _Expression:
    """or-list = and-list *("OR" and-list); and-list = term *("AND" term);
    term = "(" or-list ")" / licence ["WITH" exception]"""

    # "/" is how crates wrote OR before expressions came.
    TOKEN = re.compile(r"\s*(?:([()/])|([A-Za-z0-9][A-Za-z0-9.:-]*\+?))")
    OPERATORS = ("OR", "AND", "WITH")
    DEPTH_MAX = 50

    def __init__(self, text):
        self.text = text
        self.tokens = self._split(text)
        self.depth = 0

    def value(self, allowed):
        self.allowed = allowed
        self.at = 0
        value = self._or_list()
        if self.at != len(self.tokens):
            raise self._wrong(f"{self.tokens[self.at]!r} is out of place")
        return value

    def _split(self, text):
        tokens, at, text = [], 0, text.rstrip()
        while at < len(text):
            match = self.TOKEN.match(text, at)
            if match is None:
                raise self._wrong(f"cannot read {text[at:]!r}")
            mark, word = match.groups()
            if mark == "/":
                tokens.append("OR")
            elif mark or word.upper() not in self.OPERATORS:
                tokens.append(mark or word)
            else:
                tokens.append(word.upper())
            at = match.end()
        return tokens

    def _or_list(self):
        value = self._and_list()
        while self._take("OR"):
            # Both sides are read, so that nonsense behind an allowed licence is still found.
            right = self._and_list()
            value = value or right
        return value

    def _and_list(self):
        value = self._term()
        while self._take("AND"):
            right = self._term()
            value = value and right
        return value

    def _term(self):
        if self._take("("):
            self.depth += 1
            if self.depth > self.DEPTH_MAX:
                raise self._wrong("too many parentheses")
            value = self._or_list()
            self.depth -= 1
            if not self._take(")"):
                raise self._wrong("a parenthesis stays open")
            return value
        # "or any later version" includes the version itself.
        licence = self._word("a licence").removesuffix("+")
        if self._take("WITH"):
            licence = f"{licence} WITH {self._word('an exception')}"
        return licence.lower() in self.allowed

    def _take(self, token):
        if self.at < len(self.tokens) and self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def _word(self, what):
        if self.at == len(self.tokens):
            raise self._wrong(f"{what} is missing at the end")
        token = self.tokens[self.at]
        if token in self.OPERATORS or token in "()":
            raise self._wrong(f"{what} is missing before {token!r}")
        self.at += 1
        return token

    def _wrong(self, what):
        return NotAnExpression(f"{self.text!r}: {what}")


def complaint(name, expression, allowed=ALLOWED):
    """What is wrong with a package's licence, or None."""
    if not expression:
        return f"{name} names no licence"
    try:
        satisfied = is_satisfied(expression, allowed)
    except NotAnExpression as error:
        return f"{name} has an unreadable licence: {error}"
    return None if satisfied else f"{name} is under {expression}, which is not on the list"


def crate_complaints(metadata):
    """One line for each package of `cargo metadata` that may not be used."""
    named = ((f"{package['name']} {package['version']}", package["license"]) for package in metadata["packages"])
    return [line for line in (complaint(name, licence) for name, licence in named) if line]


def locked_names(lock):
    """The packages that a pip lock file pins."""
    return re.findall(r"^([A-Za-z0-9._-]+)==", lock, re.MULTILINE)


def documented_licences(readme):
    """The first two columns of every table whose second column is called `licence`."""
    licences, inside = {}, False
    for line in readme.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if len(cells) < 2:
            inside = False
        elif cells[1] == "licence":
            inside = True
        elif inside and not set(cells[1]) <= set("-:"):
            licences[_normal(cells[0])] = cells[1]
    return licences


def guest_complaints(lock, readme):
    """One line for each pinned Python package without a documented, allowed licence."""
    documented = documented_licences(readme)
    lines = (complaint(name, documented.get(_normal(name))) for name in locked_names(lock))
    return [line for line in lines if line]


def weights_complaints(source, readme):
    """One line for each package that weights are fetched from, without a documented, allowed licence."""
    documented = documented_licences(readme)
    names = re.findall(r'^const PACKAGE: &str = "([^"]+)";', source, re.MULTILINE)
    if not names:
        return ["the encoder's build names no package"]
    lines = (complaint(name, documented.get(_normal(name))) for name in names)
    return [line for line in lines if line]


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def main():
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--locked", "--offline", "--format-version", "1"]
    for platform in PLATFORMS:
        command += ["--filter-platform", platform]
    ran = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if ran.returncode != 0:
        return ran.returncode
    metadata = json.loads(ran.stdout)
    guest = ROOT / "guests" / "python"
    lock = (guest / "requirements.lock").read_text(encoding="utf-8")
    readme = (guest / "README.md").read_text(encoding="utf-8")
    encoder = ROOT / "crates" / "encoder"
    weights = weights_complaints(
        (encoder / "build" / "published.rs").read_text(encoding="utf-8"),
        (encoder / "README.md").read_text(encoding="utf-8"),
    )
    weights += [
        f"{name} of the encoder's weights is missing"
        for name in ("LICENSE", "NOTICE")
        if not (encoder / "weights" / name).is_file()
    ]
    complaints = crate_complaints(metadata) + guest_complaints(lock, readme) + weights
    for line in complaints:
        print(line, file=sys.stderr)
    if complaints:
        print("hint: the list of licences is in ci/licences.py; Python packages are documented in", file=sys.stderr)
        print("      guests/python/README.md, and weights in crates/encoder/README.md", file=sys.stderr)
        return 1
    print(f"{len(metadata['packages'])} crates and {len(locked_names(lock))} Python packages: every licence is on the list")
    return 0


if __name__ == "__main__":
    sys.exit(main())
