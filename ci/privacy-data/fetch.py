#!/usr/bin/env python3
"""Fetches labeled texts for `gristmill bench privacy`, in halves: `open` to look at, `held-out` to report.

The texts are those of two source packages: the synthetic sentences of presidio-evaluator, and the test
cases of presidio-analyzer's recognizers, as far as its package has them (`--tests DIR`: a folder of its
tests that you have). Test files are parsed, never run. Which half a text is in is decided by its hash.
"""

import argparse
import ast
import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path

from labels import ENTITIES, KIND_OF, data_folder

SOURCES = Path(__file__).with_name("sources.txt")

# The generator labels everything that it fills in, except that it doesn't tell dates of birth from others.
KINDS_OF_SENTENCES = sorted({*ENTITIES, "secret", "url_credentials"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", metavar="DIR", help="default: gristmill/privacy-data in your cache")
    parser.add_argument("--tests", metavar="DIR", help="a folder of presidio-analyzer's tests")
    arguments = parser.parse_args()
    folder = data_folder(arguments.into)
    sources = downloaded(folder / "packages")
    sentences = list(synthetic_sentences(sources["presidio-evaluator"]))
    tests = [sources["presidio-analyzer"], *([Path(arguments.tests)] if arguments.tests else [])]
    cases = [case for root in tests for file in sorted(root.rglob("test_*.py")) for case in test_cases(file)]
    if not cases:
        print("presidio-analyzer's source package has no tests; pass a folder of them with --tests")
    write(folder, "sentences", sentences)
    write(folder, "cases", cases)


def downloaded(into: Path) -> dict:
    """The unpacked source packages by their names."""
    if not (into / "whole").exists():
        into.mkdir(exist_ok=True)
        options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--require-hashes", "--dest", str(into)]
        command = [sys.executable, "-m", "pip", "download", *options, "--requirement", str(SOURCES)]
        subprocess.run(command, check=True)
        for archive in into.glob("*.tar.gz"):
            with tarfile.open(archive) as packed:
                packed.extractall(into, filter="data")
        (into / "whole").touch()
    names = [line.split(" ")[0] for line in SOURCES.read_text().splitlines()]
    return {name.split("==")[0]: into / name.replace("==", "-").replace("-", "_", 1) for name in names}


def synthetic_sentences(package: Path):
    for file in sorted((package / "data").glob("synth_dataset*.json")):
        for at, sentence in enumerate(json.loads(file.read_text(encoding="utf-8"))):
            spans = [
                (span["start_position"], span["end_position"], KIND_OF[span["entity_type"]])
                for span in sentence["spans"]
                if span["entity_type"] in KIND_OF
            ]
            yield record(sentence["full_text"], spans, KINDS_OF_SENTENCES, f"{file.name} {at}")


def test_cases(file: Path):
    """The parametrized cases of a test file: a text, how many values it has, and where they are."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    fixtures = {node.name: returned(node) for node in functions}
    default = fixtures.get("entities") or fixtures.get("entity")
    for function in functions:
        for names, rows in parametrized(function):
            for row in rows:
                case = dict(zip(names, row)) if len(names) == len(row) else {}
                entities = case.get("entities") or default
                entities = [entities] if isinstance(entities, str) else entities
                made = labeled(case, entities or [], f"{file.name} {function.name}")
                if made:
                    yield made


def returned(function: ast.FunctionDef):
    """What a fixture returns, if it is written down there."""
    for node in function.body:
        if isinstance(node, ast.Return) and node.value is not None:
            return literal(node.value)
    return None


def parametrized(function: ast.FunctionDef):
    for decorator in function.decorator_list:
        is_call = isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)
        if not is_call or decorator.func.attr != "parametrize" or len(decorator.args) < 2:
            continue
        names = literal(decorator.args[0])
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        if names and isinstance(decorator.args[1], (ast.List, ast.Tuple)):
            rows = [literal(row) for row in decorator.args[1].elts]
            yield list(names), [row for row in rows if isinstance(row, (list, tuple))]


def literal(node: ast.expr):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def labeled(case: dict, entities: list, source: str):
    """A record, if it is known how many values there are and where."""
    text = case.get("text")
    count = case.get("expected_len", case.get("expected_result_count"))
    positions = case.get("expected_positions") or case.get("expected_position") or ()
    kinds = sorted({KIND_OF.get(entity, "") for entity in entities})
    if not isinstance(text, str) or not isinstance(count, int) or len(kinds) != 1 or not kinds[0]:
        return None
    if positions and isinstance(positions[0], int):
        positions = (positions,)
    if positions and (count != len(positions) or any(len(position) != 2 for position in positions)):
        return None
    # Without places it is only known that there is such a value.
    spans = [(*position, kinds[0]) for position in positions or [(None, None)] * min(count, 1)]
    return record(text, spans, kinds, source)


def record(text: str, spans: list, kinds: list, source: str) -> dict:
    spans = [
        {"kind": kind} if start is None else {"start": start, "end": end, "kind": kind}
        for start, end, kind in sorted(spans)
    ]
    return {"text": text, "spans": spans, "kinds": kinds, "source": source}


def write(folder: Path, name: str, records: list) -> None:
    seen = set()
    halves = {"open": [], "held-out": []}
    for one in records:
        key = (one["text"], tuple(one["kinds"]))
        if key not in seen:
            seen.add(key)
            is_open = hashlib.sha256(one["text"].encode()).digest()[0] < 128
            halves["open" if is_open else "held-out"].append(one)
    for half, lines in halves.items():
        (folder / half).mkdir(exist_ok=True)
        file = folder / half / f"{name}.jsonl"
        file.unlink(missing_ok=True)
        if lines:
            file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
            print(f"{file}: {len(lines)} texts, {sum(len(line['spans']) for line in lines)} labels")


if __name__ == "__main__":
    main()
