#!/usr/bin/env python3
"""Runs the README's test command, and a few tests that failed once more by themselves.

A test that waits for a process or a timer can fail on a machine that stands still for seconds. Such
a test passes alone a moment later; a fault does not. So up to three tests get a second try, each
alone, and what passed only then is named at the end, to be mended. More than three, a second
failure, or a failure that names no test is a failure.
"""

import re
import subprocess
import sys

COMMAND = ["cargo", "test", "--workspace", "--locked", "--no-fail-fast"]
SECOND_TRIES = 3
PASSED = re.compile(r"^test result: \w+\. (?P<count>\d+) passed")
RERUN = re.compile(r"^\s*(?:error: test failed, to rerun pass )?`(?P<arguments>(?:-p|--)[^`]*)`\s*$")
FAILED = re.compile(r"^    (?P<name>\S.*)$")


class Reader:
    """Picks the tests that failed out of what cargo prints, each with the arguments of its binary."""

    def __init__(self):
        self.failures = []
        self.binaries = []
        self.passed = 0
        self._named = []
        self._in_list = False

    def line(self, line):
        if line == "failures:":
            # The list of names comes second; the first such heading has the outputs.
            self._named, self._in_list = [], True
        elif line.startswith("test result: "):
            if line.startswith("test result: FAILED"):
                self.failures.append(list(self._named))
            if match := PASSED.match(line):
                self.passed += int(match["count"])
            self._named, self._in_list = [], False
        elif self._in_list and (match := FAILED.match(line)):
            self._named.append(match["name"])
        elif match := RERUN.match(line):
            self.binaries.append(match["arguments"].split())

    def tests(self):
        """The failed tests as `(arguments, name)`, or nothing where a failure names no test."""
        named = [names for names in self.failures if names]
        if not named or len(named) != len(self.failures) or len(named) != len(set_of(self.binaries)):
            return None
        binaries = set_of(self.binaries)
        return [(list(binary), name) for binary, names in zip(binaries, named) for name in names]


def set_of(binaries):
    """Each once, in order: cargo names a failed binary when it ends and again at the very end."""
    return list(dict.fromkeys(tuple(binary) for binary in binaries))


def run(command):
    """Runs a command, shows what it prints, and gives its exit code and a reader of its lines."""
    reader = Reader()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            reader.line(line.rstrip("\n"))
    return process.returncode, reader


def main():
    code, reader = run(COMMAND)
    if code == 0:
        return 0
    tests = reader.tests()
    if not tests or len(tests) > SECOND_TRIES:
        return code
    print(f"\n{len(tests)} failed; each is tried once more, alone.", flush=True)
    for binary, name in tests:
        again, alone = run([*COMMAND[:-1], *binary, "--", "--exact", name])
        if again != 0 or alone.passed == 0:
            return again or code
    for binary, name in tests:
        print(f"PASSED ONLY ON THE SECOND TRY: {name} ({' '.join(binary)})", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
