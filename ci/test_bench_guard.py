"""What the guard of the benchmarks decides, on made-up measurements; and that it can fail."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import bench_guard
from bench_guard import GUEST, Broken, Measured, compare, every_name

GUARD = Path(bench_guard.__file__)

# A gristmill that tells what is written beside it: for each benchmark the ratios' factor, attempt by attempt.
FAKE = """#!/usr/bin/env python3
import json, pathlib, sys
bench = sys.argv[2]
here = pathlib.Path(__file__).parent
factors = json.loads((here / f"{bench}.json").read_text())
(here / f"{bench}.json").write_text(json.dumps(factors[1:] or factors))
if factors[0] is None:
    sys.exit("error: no python3")
if bench == "guest":
    print(json.dumps({"python3": "3.11.7", "geometric_mean": 2.0 * factors[0]}))
else:
    names = NAMES
    print(json.dumps({"build": "debug", "ratios": {name: 1.0 * factors[0] for name in names}}))
"""


def committed(margin=0.3):
    lines = {name: {"ratio": 2.0 if name == GUEST else 1.0, "margin": margin, "why": "made up"} for name in every_name()}
    return {"debug": {"python3": "3.11.7", "ratios": lines}}


def scripted(ratios, guest, python="3.11.7"):
    """Benchmarks that tell these, one attempt after another."""
    told = {"ratios": iter(ratios), "guest": iter(guest)}

    def run(bench):
        factor = next(told[bench])
        if bench == "guest":
            return {"python3": python, "geometric_mean": 2.0 * factor}
        return {"build": "debug", "ratios": dict.fromkeys(bench_guard.BENCHES["ratios"], factor)}

    return Measured(run)


def verdicts(lines):
    return {line["name"]: line["verdict"] for line in lines}


class Compare(unittest.TestCase):
    def check(self, ratios, guest, expected):
        lines = compare(committed(), scripted(ratios, guest))
        expected = dict(zip(("ratios", "guest"), expected, strict=True))
        wanted = {name: expected[bench] for bench, given in bench_guard.BENCHES.items() for name in given}
        self.assertEqual(verdicts(lines), wanted)

    def test_what_is_as_committed_passes_at_once(self):
        self.check([1.0], [1.29], ("ok", "ok"))

    def test_what_is_slow_every_time_is_worse(self):
        self.check([1.0], [1.4, 1.5, 1.31], ("ok", "WORSE"))
        self.check([1.31, 1.31, 1.31], [1.0], ("WORSE", "ok"))

    def test_one_quiet_attempt_is_enough_and_only_what_is_in_doubt_is_measured_again(self):
        self.check([1.9, 1.6, 1.1], [1.0], ("ok", "ok"))

    def test_what_became_much_faster_is_told(self):
        self.check([0.7], [1.0], ("better: --update", "ok"))

    def test_a_ratio_that_is_missing_or_no_number_is_not_passed_over(self):
        for ratios in ({}, dict.fromkeys(bench_guard.BENCHES["ratios"], 0), dict.fromkeys(bench_guard.BENCHES["ratios"])):
            told = {"build": "debug", "python3": "3.11.7", "ratios": ratios, "geometric_mean": 2.0}
            with self.assertRaises(Broken):
                compare(committed(), Measured(lambda bench, told=told: told))

    def test_another_python3_is_not_compared_with_and_the_rest_is(self):
        for factor, expected in ((1.0, "ok"), (1.5, "WORSE")):
            lines = verdicts(compare(committed(), scripted([factor] * 3, [9.0], python="3.14.1")))
            self.assertEqual({lines[name] for name in bench_guard.TO_PYTHON}, {"not compared: another python3"})
            self.assertEqual(lines["stdio / library"], expected)

    def test_a_build_without_committed_ratios_is_an_error(self):
        with self.assertRaisesRegex(Broken, "no ratios of a debug build"):
            compare({"release": committed()["debug"]}, scripted([1.0], [1.0]))

    def test_a_new_build_takes_the_margins_of_the_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ratios.json"
            with contextlib.redirect_stdout(io.StringIO()):
                measured = scripted([1.0] * 3, [1.5] * 3)
                bench_guard.update(path, {"release": committed()["debug"]}, measured)
            written = bench_guard.read(path)
        self.assertEqual(written["debug"]["ratios"][GUEST], {"ratio": 3.0, "margin": 0.3, "why": "made up"})
        self.assertEqual(written["release"]["ratios"][GUEST]["ratio"], 2.0)


class CommittedFile(unittest.TestCase):
    def test_each_build_has_every_ratio_with_a_margin_and_its_reason(self):
        builds = bench_guard.read(bench_guard.RATIOS)
        self.assertIn("debug", builds)
        for section in builds.values():
            for line in section["ratios"].values():
                self.assertGreater(len(line["why"]), 20)
                # A guard with a wider margin would guard nothing.
                self.assertLessEqual(line["margin"], 1.0)

    def test_a_file_that_lacks_something_is_refused(self):
        lines = committed()
        del lines["debug"]["ratios"][GUEST]["why"]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ratios.json"
            path.write_text(json.dumps(lines))
            self.assertRaises(Broken, bench_guard.read, path)
            path.write_text("{")
            self.assertRaises(Broken, bench_guard.read, path)


class WholeCommand(unittest.TestCase):
    def run_guard(self, ratios, guest, *options):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            binary, file = folder / "gristmill", folder / "committed.json"
            binary.write_text(FAKE.replace("NAMES", repr(bench_guard.BENCHES["ratios"])))
            binary.chmod(0o755)
            (folder / "ratios.json").write_text(json.dumps(ratios))
            (folder / "guest.json").write_text(json.dumps(guest))
            file.write_text(json.dumps(committed()))
            command = [sys.executable, GUARD, "--binary", binary, "--ratios", file, *options]
            environment = {name: value for name, value in os.environ.items() if name != "GRISTMILL_BIN"}
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
            return done, json.loads(file.read_text())

    def test_a_regression_ends_with_code_1_and_says_what_and_by_how_much(self):
        done, _ = self.run_guard([1.0], [1.5])
        self.assertEqual(done.returncode, 1)
        self.assertIn("guest / python3 is 3.000, 50 % more than the committed 2.000 and above 2.600", done.stderr)
        self.assertIn("in 3 attempts", done.stderr)
        self.assertIn("WORSE", done.stdout)

    def test_no_regression_ends_with_code_0(self):
        done, _ = self.run_guard([1.6, 1.0], [1.0])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("ok (attempt 2)", done.stdout)

    def test_a_benchmark_that_fails_is_an_error_with_its_words(self):
        done, _ = self.run_guard([1.0], [None])
        self.assertEqual(done.returncode, 1)
        self.assertIn("ended with code 1: error: no python3", done.stderr)

    def test_update_writes_medians_and_keeps_margins(self):
        done, file = self.run_guard([1.2, 0.9, 1.1], [1.5], "--update")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(file["debug"]["ratios"][GUEST], {"ratio": 3.0, "margin": 0.3, "why": "made up"})
        self.assertEqual(file["debug"]["ratios"]["stdio / library"]["ratio"], 1.1)


if __name__ == "__main__":
    unittest.main()
