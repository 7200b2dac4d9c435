#!/usr/bin/env python3
"""Prints facts about the structure of the crates: how large they are, which modules import each
other in circles, and which functions are longer than a screen.

    python3 ci/structure.py            a table
    python3 ci/structure.py --json     the same for machines
    python3 ci/structure.py --root DIR another checkout

Imports are read as text: `crate::a::b` and `super::b` in a file are arrows to the module that
they name. Tests inside a file are left out. A module and its own child may name each other; every
other circle counts.
"""

import argparse
import json
import re
from pathlib import Path

FUNCTION_LINES_MAX = 60
FUNCTION = re.compile(
    r"^(?P<indent>\s*)(?:pub(?:\([^)]*\))?\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+\"C\"\s+)?fn\s+(?P<name>\w+)"
)
PATH = re.compile(r"\b(crate|super(?:::super)*)::((?:\w+::)*\w+|\{)")


def source_files(crate: Path):
    """Every source file of a crate that is not a test, with its module path."""
    source = crate / "src"
    for path in sorted(source.rglob("*.rs")):
        parts = list(path.relative_to(source).with_suffix("").parts)
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        if any(part == "tests" or part.endswith("_tests") for part in parts):
            continue
        yield path, tuple(parts)


def without_tests_and_comments(text: str) -> str:
    kept = []
    lines = text.splitlines()
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.strip() == "#[cfg(test)]":
            index += 1
            while index < len(lines) and lines[index].strip().startswith("#["):
                index += 1
            if index < len(lines) and lines[index].rstrip().endswith("{"):
                indent = len(lines[index]) - len(lines[index].lstrip())
                while index < len(lines) and lines[index] != " " * indent + "}":
                    index += 1
            index += 1
            continue
        kept.append("" if line.lstrip().startswith("//") else line)
        index += 1
    return "\n".join(kept)


def flattened(text: str) -> str:
    """`use crate::{a::B, c::{D, E}};` as `crate::a::B crate::c::D crate::c::E`."""

    def spread(prefix: str, inside: str):
        depth, piece, pieces = 0, "", []
        for char in inside:
            if char == "," and depth == 0:
                pieces.append(piece)
                piece = ""
                continue
            depth += (char == "{") - (char == "}")
            piece += char
        pieces.append(piece)
        for piece in (piece.strip() for piece in pieces):
            if piece.endswith("}") and "{" in piece:
                head, _, tail = piece.partition("{")
                yield from spread(prefix + head.strip(), tail[:-1])
            elif piece:
                yield prefix + piece.split(" as ")[0].strip()

    def replace(match: re.Match) -> str:
        path = re.sub(r"\s+", " ", match.group(1)).strip()
        if "{" not in path:
            return path + ";"
        head, _, tail = path.partition("{")
        return " ".join(f"{name};" for name in spread(head, tail.rsplit("}", 1)[0]))

    return re.sub(r"\buse\s+([^;]+);", replace, text)


def arrows(files: dict) -> dict:
    """Which module names which other one, by the longest prefix that is a module."""
    found = {module: set() for module in files}
    for module, path in files.items():
        is_folder = path.name in ("mod.rs", "lib.rs", "main.rs")
        for start, rest in PATH.findall(flattened(without_tests_and_comments(path.read_text()))):
            base = () if start == "crate" else module
            if start != "crate":
                ups = start.count("super")
                base = module[: len(module) - ups]
            target = base + tuple(part for part in rest.split("::") if part and part != "{")
            while target and target not in files:
                target = target[:-1]
            if target in files and target != module and not (is_folder and not target):
                found[module].add(target)
    return found


def is_family(one: tuple, other: tuple) -> bool:
    return one == other[: len(one)] or other == one[: len(other)]


def circles(edges: dict) -> list:
    """Strongly connected groups of more than one (Tarjan, without recursion)."""
    index, low, on_stack, stack, groups, counter = {}, {}, set(), [], [], 0
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = counter
        counter += 1
        stack.append(root)
        on_stack.add(root)
        while work:
            node, children = work[-1]
            for child in children:
                if child not in index:
                    index[child] = low[child] = counter
                    counter += 1
                    stack.append(child)
                    on_stack.add(child)
                    work.append((child, iter(sorted(edges.get(child, ())))))
                    break
                if child in on_stack:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        group.append(member)
                        if member == node:
                            break
                    if len(group) > 1:
                        groups.append(sorted(group))
    return groups


def long_functions(path: Path) -> list:
    lines, found = path.read_text().splitlines(), []
    for number, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match:
            continue
        closing = match["indent"] + "}"
        for end in range(number, len(lines)):
            if lines[end].rstrip() == closing:
                if end - number + 1 > FUNCTION_LINES_MAX:
                    found.append((end - number + 1, match["name"], number + 1))
                break
            if end == number and (line.rstrip().endswith(";") or line.rstrip().endswith("}")):
                break
    return found


def facts(root: Path) -> dict:
    answer = {"crates": {}, "circles": [], "long_functions": []}
    for crate in sorted((root / "crates").iterdir()):
        if not (crate / "src").is_dir():
            continue
        files = {module: path for path, module in source_files(crate)}
        sources = list((crate / "src").rglob("*.rs"))
        tests = list((crate / "tests").rglob("*.rs")) if (crate / "tests").is_dir() else []
        edges = arrows(files)
        apart = {a: {b for b in targets if not is_family(a, b)} for a, targets in edges.items()}
        rooms = {}
        for module, targets in edges.items():
            for target in targets:
                if module and target and module[0] != target[0]:
                    rooms.setdefault(module[:1], set()).add(target[:1])
                    rooms.setdefault(target[:1], set())
        room_circles = circles(rooms)
        in_rooms = sum(1 for module in files for group in room_circles if module[:1] in group)
        answer["crates"][crate.name] = {
            "lines": sum(len(path.read_text().splitlines()) for path in sources),
            "files": len(sources),
            "test_lines": sum(len(path.read_text().splitlines()) for path in tests),
            "top_modules_in_circles": sum(len(group) for group in room_circles),
            "files_of_those": in_rooms,
            "files_in_circles": sum(len(group) for group in circles(apart)),
        }
        for group in room_circles:
            answer["circles"].append({"crate": crate.name, "modules": ["::".join(module) for module in group]})
        for path in sources:
            for length, name, line in long_functions(path):
                place = f"{path.relative_to(root)}:{line}"
                answer["long_functions"].append({"lines": length, "function": name, "place": place})
    answer["long_functions"].sort(key=lambda one: -one["lines"])
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    found = facts(arguments.root.resolve())
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{'crate':18}{'lines':>8}{'files':>7}{'tests':>8}   modules (files) in circles   files in circles")
    for name, crate in found["crates"].items():
        print(
            f"{name:18}{crate['lines']:8}{crate['files']:7}{crate['test_lines']:8}"
            f"{crate['top_modules_in_circles']:14} ({crate['files_of_those']:3}){crate['files_in_circles']:22}"
        )
    print(f"\nfunctions over {FUNCTION_LINES_MAX} lines: {len(found['long_functions'])}")
    for one in found["long_functions"]:
        print(f"  {one['lines']:4}  {one['function']}  {one['place']}")
    for circle in found["circles"]:
        print(f"circle in {circle['crate']}: {', '.join(circle['modules'])}")


if __name__ == "__main__":
    main()
