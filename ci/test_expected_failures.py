"""Tests of real-clients/expected_failures.py."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "real-clients"))

from expected_failures import complaints, read_expected, read_found

REVISIONS = ("2026-07-28", "2025-11-25")


class Compared(unittest.TestCase):
    def check(self, expected, found, lines):
        self.assertEqual(complaints(expected, found), lines)

    def test_a_failure_that_is_expected_is_fine(self):
        self.check({"a:b": "no such tool"}, {"a:b": ("FAILURE", "x"), "a:c": ("SUCCESS", "")}, [])

    def test_a_failure_that_nobody_expects_is_told_with_its_message(self):
        self.check({}, {"a:b": ("FAILURE", "got 500")}, ["fails: a:b: got 500"])

    def test_a_warning_counts_as_a_failure(self):
        self.check({}, {"a:b": ("WARNING", "should")}, ["fails: a:b: should"])
        self.check({"a:b": "never"}, {"a:b": ("WARNING", "should")}, [])

    def test_an_expected_failure_that_passes_is_told(self):
        lines = ["passes by now, so take it out of the list: a:b"]
        self.check({"a:b": "no such tool"}, {"a:b": ("SUCCESS", "")}, lines)

    def test_an_expected_failure_that_was_not_checked_is_told(self):
        lines = ["was not checked, so take it out of the list: a:b"]
        self.check({"a:b": "no such tool"}, {"c:d": ("SUCCESS", "")}, lines)
        self.check({"a:b": "no such tool"}, {"a:b": ("SKIPPED", "")}, lines)

    def test_a_reason_must_say_something(self):
        self.check({"a:b": " "}, {"a:b": ("FAILURE", "x")}, ["has no reason: a:b"])

    def test_a_suite_that_checks_nothing_is_told(self):
        self.check({}, {}, ["nothing was checked"])


class Found(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def scenario(self, name, *checks):
        folder = self.folder / f"server-{name}-2026-11-15T10-04-12-733Z"
        folder.mkdir()
        (folder / "checks.json").write_text(json.dumps(checks))

    def test_checks_are_named_after_their_scenario(self):
        self.scenario("ping", {"id": "ping", "status": "SUCCESS"})
        self.scenario("ping-more", {"id": "ping", "status": "FAILURE", "errorMessage": "no answer"})
        output = "=== Running scenario: ping ===\n…\n=== Running scenario: ping-more ===\n"
        expected = {"ping:ping": ("SUCCESS", ""), "ping-more:ping": ("FAILURE", "no answer")}
        self.assertEqual(read_found(output, self.folder), expected)

    def test_of_a_repeated_check_the_worst_counts(self):
        statuses = ("SUCCESS", "FAILURE", "WARNING")
        self.scenario("ping", *({"id": "x", "status": status, "errorMessage": status} for status in statuses))
        found = read_found("=== Running scenario: ping ===\n", self.folder)
        self.assertEqual(found, {"ping:x": ("FAILURE", "FAILURE")})

    def test_a_scenario_that_broke_off_is_a_failure(self):
        found = read_found("=== Running scenario: ping ===\n", self.folder)
        self.assertEqual(found, {"ping:ran": ("FAILURE", "the scenario did not run to its end")})


class TheList(unittest.TestCase):
    def test_every_expected_failure_names_a_check_and_a_reason(self):
        path = HERE / "real-clients" / "conformance-expected-failures.toml"
        for revision in REVISIONS:
            for name, reason in read_expected(path, revision).items():
                with self.subTest(name):
                    self.assertRegex(name, r"^[a-z0-9-]+:[A-Za-z0-9-]+$")
                    self.assertGreater(len(reason.split()), 3)


if __name__ == "__main__":
    unittest.main()
