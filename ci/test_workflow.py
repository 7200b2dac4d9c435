"""The workflow for hosted CI does what the scripts do, and trusts nobody more than it must."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def jobs():
    """Name → text of each job."""
    _, _, below = TEXT.partition("\njobs:\n")
    parts = re.split(r"^  ([\w-]+):$", below, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


class Workflow(unittest.TestCase):
    def test_it_is_written_in_the_plain_part_of_yaml(self):
        for number, line in enumerate(TEXT.splitlines(), 1):
            with self.subTest(line=number):
                self.assertNotIn("\t", line)
                self.assertEqual(line, line.rstrip())
                self.assertEqual((len(line) - len(line.lstrip())) % 2, 0)
        keys = re.findall(r"^([a-z]+):", TEXT, re.MULTILINE)
        self.assertEqual(keys, ["name", "on", "permissions", "concurrency", "env", "jobs"])
        try:
            import yaml
        except ImportError:
            return
        self.assertEqual(set(yaml.safe_load(TEXT)["jobs"]), set(jobs()))

    def test_every_change_is_checked_by_the_one_command(self):
        self.assertIn("\n        run: .ci/run\n", jobs()["check"])
        self.assertRegex(TEXT, r"\n  pull_request:\n")
        self.assertRegex(TEXT, r"\n  push:\n    branches: \[main\]\n")

    def test_every_day_has_every_part_of_the_long_tests(self):
        self.assertRegex(TEXT, r'\n  schedule:\n    - cron: "\d+ \d+ \* \* \*"\n')
        [listed] = re.findall(r"^ +part: \[(.*)\]$", jobs()["long"], re.MULTILINE)
        script = (ROOT / "ci" / "long").read_text(encoding="utf-8")
        known = re.findall(r"^    ([\w]+)\) ", script, re.MULTILINE)
        self.assertEqual(listed.split(", "), [part for part in known if part != "all"])

    def test_actions_are_pinned_by_their_commits(self):
        used = re.findall(r"uses: (.*)$", TEXT, re.MULTILINE)
        self.assertGreaterEqual(len(used), 2)
        for action in used:
            self.assertRegex(action, r"^actions/[a-z]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")

    def test_a_job_has_a_time_limit_and_no_right_that_it_does_not_need(self):
        self.assertIn("\npermissions:\n  contents: read\n", TEXT)
        rights = {name: re.findall(r"^      ([\w-]+: write)$", text, re.MULTILINE) for name, text in jobs().items()}
        self.assertEqual(rights, {"check": [], "long": [], "clean-up": ["actions: write"]})
        for name, text in jobs().items():
            self.assertRegex(text, r"\n    timeout-minutes: \d+\n", name)
        self.assertNotIn("pull_request_target", TEXT)
        self.assertNotIn("secrets.", TEXT)

    def test_every_script_that_it_calls_is_there(self):
        for script in re.findall(r"(?:\.ci|ci)/[\w.]+", TEXT):
            if not script.endswith("ci.yml"):
                self.assertTrue((ROOT / script).is_file(), script)


class Trimming(unittest.TestCase):
    def test_dependencies_stay_and_our_own_crates_go(self):
        with tempfile.TemporaryDirectory() as place:
            debug = Path(place) / "debug"
            kept = [
                "deps/libserde-1.rlib",
                "deps/libserde_derive-1.so",
                "build/gristmill-worker-1/output",
                ".fingerprint/serde-1/lib",
            ]
            gone = [
                "deps/libgristmill_cli-1.rlib",
                "deps/gristmill-1",
                ".fingerprint/gristmill-cli-1/lib",
                "incremental/a/b",
                "deps/serve-1",
            ]
            for name in kept + gone:
                (debug / name).parent.mkdir(parents=True, exist_ok=True)
                (debug / name).touch()
            (debug / "deps/serve-1").chmod(0o755)
            ran = subprocess.run(
                [ROOT / "ci/trim_cache.sh"],
                env={"CARGO_TARGET_DIR": place, "HOME": place, "PATH": "/usr/bin:/bin"},
                capture_output=True,
                text=True,
            )
            self.assertEqual(ran.returncode, 0, ran.stderr)
            left = {str(path.relative_to(debug)) for path in debug.rglob("*") if path.is_file()}
            self.assertEqual(left, set(kept))


if __name__ == "__main__":
    unittest.main()
