"""Compares the ratios of the benchmarks with those in ci/bench_guard.json, and fails if one has become worse.

    python3 ci/bench_guard.py [--binary FILE] [--update] [--ratios FILE] [--json]

A ratio is one time as a share of another from the same run: a fresh worker of a cold python3, `serve` of the
library, a call from a program of a direct one, Python in the sandbox of the machine's python3. Milliseconds differ
between machines and hours, ratios hardly. `gristmill bench ratios` and `gristmill bench guest` measure by turns and
count the fastest times. A ratio that is beyond its margin is measured again, three times in all, and its best
counts: a busy machine makes a measurement slow, and never fast. Ends with code 1 if a ratio is still beyond it.

The debug build and the release build have ratios of their own; a binary says itself which it is. Ratios to python3
count only beside the version that they were committed with: another one is faster or slower. `--update` writes the
median of three measurements for this build, and leaves the margins and their reasons as they are; a build that is new
in the file gets those of the other. Takes about a minute, and at most two on an idle machine. The binary is --binary or GRISTMILL_BIN, or the one that `cargo build -p gristmill-cli --bin gristmill` has made.
"""

import argparse
import copy
import json
import math
import os
import statistics
import subprocess
from pathlib import Path

import real_servers

RATIOS = Path(__file__).resolve().parent / "bench_guard.json"
ATTEMPTS = 3
BENCH_SECONDS_MAX = 300

GUEST, COLD = "guest / python3", "library / cold python3"
# Another python3 has other ratios.
TO_PYTHON = (GUEST, COLD)
# What gives which ratio: each is measured alone if only its own ratios are in doubt.
BENCHES = {
    "ratios": (COLD, "stdio / library", "http / library", "call from a program / direct call"),
    "guest": (GUEST,),
}
# Rounds of each: a quarter of a minute each, on an idle machine.
ROUNDS = {"ratios": 6, "guest": 2}


class Broken(Exception):
    """Nothing could be compared. The text says why."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--binary", help="the gristmill to measure")
    parser.add_argument("--ratios", type=Path, default=RATIOS, help="the file of ratios and margins")
    parser.add_argument("--update", action="store_true", help="write the ratios of this build")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    arguments = parser.parse_args()
    if arguments.binary:
        os.environ["GRISTMILL_BIN"] = arguments.binary
    gristmill = real_servers.binary()
    try:
        committed = read(arguments.ratios)
        if arguments.update:
            update(arguments.ratios, committed, Measured.of(gristmill))
            return
        lines = compare(committed, Measured.of(gristmill))
    except Broken as error:
        raise SystemExit(f"error: {error}") from None
    print(json.dumps(lines, indent=2) if arguments.json else table(lines))
    worse = [line for line in lines if line["verdict"] == "WORSE"]
    if worse:
        raise SystemExit("\n".join(map(complaint, worse)))


class Measured:
    """What the benchmarks of one binary say, attempt after attempt."""

    def __init__(self, run):
        """`run` gives the JSON of a benchmark by its name."""
        self.run, self.build, self.python, self.seen = run, None, None, {}

    @classmethod
    def of(cls, gristmill):
        return cls(lambda bench: run_bench(gristmill, bench))

    def again(self, names):
        """Measures whatever gives one of these ratios."""
        for bench, given in BENCHES.items():
            if not set(given) & set(names):
                continue
            said = self.run(bench)
            if bench == "guest":
                self.python, ratios = said["python3"], {GUEST: said["geometric_mean"]}
            else:
                self.build, ratios = said["build"], said["ratios"]
            if set(ratios) != set(given):
                raise Broken(f"`bench {bench}` gives {sorted(ratios)}, and {sorted(given)} are expected")
            for name, ratio in ratios.items():
                if not (isinstance(ratio, float | int) and math.isfinite(ratio) and ratio > 0):
                    raise Broken(f"`bench {bench}` gives {ratio!r} for {name}")
                self.seen.setdefault(name, []).append(ratio)


def run_bench(gristmill, bench):
    command = [gristmill, "bench", bench, "--json", "--rounds", str(ROUNDS[bench])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BENCH_SECONDS_MAX)
    if done.returncode != 0:
        raise Broken(f"`{' '.join(command)}` ended with code {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def every_name():
    return [name for given in BENCHES.values() for name in given]


def read(path):
    try:
        committed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Broken(f"{path}: {error}") from None
    for build, section in committed.items():
        lines = section["ratios"]
        if set(section) != {"python3", "ratios"} or set(lines) != set(every_name()):
            raise Broken(f"{path}: the {build} build has other ratios than the benchmarks give")
        for name, line in lines.items():
            if set(line) != {"ratio", "margin", "why"} or not line["ratio"] > 0 or not line["margin"] > 0:
                raise Broken(f"{path}: {name} needs a ratio and a margin above 0, and why the margin is that")
    return committed


def bound(line):
    return line["ratio"] * (1 + line["margin"])


def compare(committed, measured):
    """A line for each ratio, by the best of as many attempts as it needs."""
    doubtful = every_name()
    for _ in range(ATTEMPTS):
        measured.again(doubtful)
        if measured.build not in committed:
            raise Broken(f"no ratios of a {measured.build} build are committed; run with --update")
        section = committed[measured.build]
        lines, counts = section["ratios"], counting(section, measured)
        doubtful = [name for name in counts if min(measured.seen[name]) > bound(lines[name])]
        if not doubtful:
            break
    return [judged(name, lines[name], measured.seen[name], name in counts) for name in every_name()]


def counting(section, measured):
    """The ratios that can be compared here."""
    is_same = section["python3"] == measured.python
    return [name for name in every_name() if is_same or name not in TO_PYTHON]


def judged(name, line, seen, counts):
    best = min(seen)
    if not counts:
        verdict = "not compared: another python3"
    elif best > bound(line):
        verdict = "WORSE"
    elif best < line["ratio"] / (1 + line["margin"]):
        verdict = "better: --update"
    else:
        verdict = "ok"
    return {
        "name": name,
        "measured": best,
        "committed": line["ratio"],
        "at most": bound(line),
        "attempts": len(seen),
        "verdict": verdict,
        "why": line["why"],
    }


def table(lines):
    rows = [f"{'ratio':<36} {'measured':>9} {'committed':>10} {'at most':>9}  verdict"]
    for line in lines:
        figures = f"{line['measured']:>9.3f} {line['committed']:>10.3f} {line['at most']:>9.3f}"
        again = f" (attempt {line['attempts']})" if line["attempts"] > 1 else ""
        rows.append(f"{line['name']:<36} {figures}  {line['verdict']}{again}")
    return "\n".join(rows)


def complaint(line):
    percent = (line["measured"] / line["committed"] - 1) * 100
    return (
        f"error: {line['name']} is {line['measured']:.3f}, {percent:.0f} % more than the committed "
        f"{line['committed']:.3f} and above {line['at most']:.3f}, in {line['attempts']} attempts.\n"
        f"hint: find what made it slower (docs/performance.md says how it's measured); if the price is meant, "
        f"run `python3 ci/bench_guard.py --update` and say why in the commit"
    )


def update(path, committed, measured):
    for _ in range(ATTEMPTS):
        measured.again(every_name())
    if measured.build not in committed:
        committed[measured.build] = copy.deepcopy(next(iter(committed.values())))
    section = committed[measured.build]
    section["python3"] = measured.python
    for name, line in section["ratios"].items():
        ratio = float(f"{statistics.median(measured.seen[name]):.3g}")
        print(f"{name}: {line['ratio']} -> {ratio} ({', '.join(f'{seen:.3g}' for seen in measured.seen[name])})")
        line["ratio"] = ratio
    path.write_text(json.dumps(committed, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
