"""What a run has found, against what it is expected to find.

The list of expected failures is a TOML file of `[[because]]` tables, each with a reason and its tests.
"""

import collections
import tomllib
from pathlib import Path

SHOWN_MAX = 60


def read_expected(path):
    """`{test: reason}`."""
    expected = {}
    for because in tomllib.loads(Path(path).read_text()).get("because", []):
        for name in because["tests"]:
            if name in expected:
                raise SystemExit(f"error: {path}: {name} is there twice")
            expected[name] = because["reason"]
    return expected


def write_expected(path, failures, reason_of):
    """The failures of a run, by reason; what has no reason yet is last and says what was wrong."""
    groups = collections.defaultdict(list)
    for name, wrong in sorted(failures.items()):
        groups[reason_of(name) or "TODO"].append((name, wrong))
    lines = ["# What of Test262 fails, and why. `ci/test262.py --update` writes this file and keeps the reasons.", ""]
    for reason in sorted(groups, key=lambda reason: (reason == "TODO", reason)):
        lines.append("[[because]]")
        lines.append(f"reason = {quoted('' if reason == 'TODO' else reason)}")
        lines.append("tests = [")
        for name, wrong in groups[reason]:
            remark = f"  # {wrong}" if reason == "TODO" else ""
            lines.append(f"    {quoted(name)},{remark}")
        lines += ["]", ""]
    Path(path).write_text("\n".join(lines))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def complaints(expected, ran, failures, is_whole):
    """What is not as expected, as lines for a person."""
    if not ran:
        return ["nothing was tested"]
    lines = [f"fails: {name}: {wrong}" for name, wrong in sorted(failures.items()) if name not in expected]
    for name, reason in sorted(expected.items()):
        if not reason.strip():
            lines.append(f"has no reason: {name}")
        if name in ran and name not in failures:
            lines.append(f"passes by now, so take it out of the list: {name}")
        if is_whole and name not in ran:
            lines.append(f"was not tested, so take it out of the list: {name}")
    return lines


def table(claims, ran, failures, left_out):
    """Counts for each claimed folder, and why tests were left out, as lines for a person."""
    passed, total = collections.Counter(), collections.Counter()
    for name in ran:
        area = claims.area(name)
        total[area] += 1
        passed[area] += name not in failures
    lines = ["| folder | tests | pass | |", "|---|---:|---:|---:|"]
    for area in claims.folders:
        if total[area]:
            lines.append(row(f"`{area}`", total[area], passed[area]))
    lines.append(row("together", sum(total.values()), sum(passed.values())))
    lines.append("")
    for reason, count in collections.Counter(left_out.values()).most_common():
        lines.append(f"{count:,} left out: {reason}")
    return lines


def row(name, total, passed):
    return f"| {name} | {total:,} | {passed:,} | {100 * passed / total:.1f}% |"
