"""What must hold of a state that gateways share, as plain functions over what was seen: each gives a list of sentences,
empty if all is well.
"""

import hashlib
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

from at_rest import tell

DATABASE = "replica/gristmill.db"
# What a data folder has beside the folders of sessions, results and skills, and is shared.
SETTINGS = (
    "access-tokens.json",
    "approval-links.key",
    "audit.key",
    "audit.mark",
    "local-token",
    "pins.json",
    "policy-approvals.json",
    "tokens.json",
    "vault.key",
)
SHOWN_MAX = 3


def copy_of(data):
    """What is shared of a data folder, with its copy of the database: {path: digest}."""
    paths = [DATABASE, *SETTINGS]
    for pattern in ("sessions/*/workspace/**/*", "results/*/[!.]*", "skills/[!.]*/**/*"):
        found = [path.relative_to(data) for path in data.glob(pattern) if not path.name.endswith(".lock")]
        # What is being written is its machine's own.
        paths += [str(path) for path in found if path.parts[:2] != ("results", "incoming")]
    return {path: digest for path in paths if (digest := digest_of(data / path)) is not None}


def digest_of(path):
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except IsADirectoryError:
        return "a folder"
    except FileNotFoundError:
        return None


def judge_copies(leading, copies):
    """`copies` are those of all gateways, by their names."""
    problems = []
    original = copies[leading]
    if DATABASE not in original:
        problems.append(f"{leading}, which leads, has no copy of the database")
    for name in sorted(copies.keys() - {leading}):
        copy = copies[name]
        for what, paths in (
            ("lacks", original.keys() - copy.keys()),
            ("has too much", copy.keys() - original.keys()),
            ("has otherwise", {path for path in original.keys() & copy.keys() if original[path] != copy[path]}),
        ):
            if paths:
                some = ", ".join(sorted(paths)[:SHOWN_MAX])
                problems.append(f"the copy of {name} {what} {len(paths)} of {len(original)}: {some}")
    return problems


def judge_database(name, path):
    """Whether it's whole by itself. SQLite gets a copy: it writes beside what it opens."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        copy.write_bytes(path.read_bytes())
        try:
            database = sqlite3.connect(copy)
            found = database.execute("pragma integrity_check").fetchall()
            database.close()
        except sqlite3.DatabaseError as error:
            found = [(str(error),)]
    return [] if found == [("ok",)] else [f"the database of {name} is damaged: {found[:SHOWN_MAX]}"]


def judge_leading(status, names):
    """At the end everybody is there, and exactly one leads."""
    problems, states = [], {one["name"]: one.get("state") for one in status["gateways"]}
    tell(problems, "gateways aren't there at the end", set(names) - states.keys())
    leads = [name for name, state in sorted(states.items()) if state == "leads"]
    if len(leads) != 1:
        problems.append(f"not exactly one gateway leads at the end, but {len(leads)}: {', '.join(leads)}")
    strange = {f"{name}: {state}" for name, state in states.items() if state not in ("leads", "stands by")}
    tell(problems, "gateways neither lead nor stand by", strange)
    return problems


def judge_history(listed, answered):
    """`listed` are the ids in the history, `answered` those of executions that callers have heard of."""
    problems, counts = [], Counter(listed)
    tell(problems, "executions were answered and aren't in the history", set(answered) - counts.keys())
    tell(problems, "executions are in the history more than once", {one for one, count in counts.items() if count > 1})
    return problems
