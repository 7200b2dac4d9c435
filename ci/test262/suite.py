"""Test262's files: what each says of itself, and which of them we claim."""

import dataclasses
import re
import tomllib
from pathlib import Path

FRONT = re.compile(r"/\*---(.*?)---\*/", re.DOTALL)
ENTRY = re.compile(r"^(\w+):[ \t]*(.*)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Test:
    """One file. `name` is its path below `test/`, without the ending."""

    name: str
    code: str
    flags: frozenset = frozenset()
    features: frozenset = frozenset()
    includes: tuple = ()
    # When it must fail ("parse" or "runtime"), and with what; or nothing.
    phase: str = ""
    error: str = ""

    @classmethod
    def read(cls, name, code):
        found = FRONT.search(code)
        # Tests about line ends have theirs in here, too.
        front = re.sub(r"\r\n?", "\n", found[1]) if found else ""
        negative = nested(front, "negative")
        phase = negative.get("phase", "")
        return cls(
            name=name,
            code=code,
            flags=frozenset(listed(front, "flags")),
            features=frozenset(listed(front, "features")),
            includes=tuple(listed(front, "includes")),
            # Older files say "early" for what no parser may accept.
            phase="parse" if phase in ("early", "resolution") else phase,
            error=negative.get("type", ""),
        )


def listed(front, key):
    """`key: [a, b]`, or one `- a` in each line."""
    for found in ENTRY.finditer(front):
        if found[1] != key:
            continue
        value = found[2].strip()
        if value.startswith("["):
            # The brackets may close further down.
            inside = front[found.start(2) :].partition("[")[2].partition("]")[0]
            return [word.strip() for word in inside.split(",") if word.strip()]
        lines = front[found.end() :].lstrip("\n").splitlines()
        items = []
        for line in lines:
            if not line.lstrip().startswith("- "):
                break
            items.append(line.lstrip()[2:].strip())
        return items
    return []


def nested(front, key):
    """The indented `name: value` lines below `key:`."""
    found = re.search(rf"^{key}:[ \t]*\n((?:[ \t]+\S.*(?:\n|$))+)", front, re.MULTILINE)
    pairs = re.findall(r"^[ \t]+(\w+):[ \t]*(\S+)", found[1], re.MULTILINE) if found else []
    return dict(pairs)


class Claims:
    """What we run of the suite, and why not the rest; from claims.toml."""

    def __init__(self, path):
        claims = tomllib.loads(Path(path).read_text())
        self.folders = claims["folders"]
        self.left_out = claims["left_out"]

    def area(self, name):
        """The longest claimed folder that a test lies in, or nothing."""
        inside = [folder for folder in self.folders if name.startswith(f"{folder}/")]
        return max(inside, key=len, default=None)

    def reason_against(self, test):
        """Why a test isn't run, or nothing."""
        for flag, reason in self.left_out["flags"].items():
            if flag in test.flags:
                return reason
        for feature, reason in self.left_out["features"].items():
            if feature in test.features:
                return reason
        for folder, reason in self.left_out["folders"].items():
            if test.name == folder or test.name.startswith(f"{folder}/"):
                return reason
        for text, reason in self.left_out["text"].items():
            if text in test.code:
                return reason
        return None


def tests(folder, claims):
    """Every test of the claimed folders, in the order of their names: [(test, why it isn't run)]."""
    root = Path(folder) / "test"
    names = sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.js"))
    found = []
    for name in names:
        if name.endswith("_FIXTURE") or claims.area(name) is None:
            continue
        # Some are about line ends: nothing is translated.
        code = (root / f"{name}.js").read_bytes().decode(errors="surrogateescape")
        test = Test.read(name, code)
        found.append((test, claims.reason_against(test)))
    return found
