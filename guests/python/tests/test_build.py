import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import build  # noqa: E402


class TheBuildIsPinned(unittest.TestCase):
    def test_every_pin_has_a_version_and_a_hash(self):
        for section in ("build", "bundled"):
            for entry in build.lock_section(section).replace("\\\n", "").strip().split("\n"):
                self.assertRegex(entry, r"^[\w-]+==[\w.]+ +(--hash=sha256:[0-9a-f]{64} *)+$")

    def test_the_lock_names_no_index(self):
        self.assertIsNone(re.search(r"https?:|index-url|find-links", build.LOCK.read_text(encoding="utf-8")))

    def test_the_inputs_are_listed_sorted_and_without_tests(self):
        listed = build.inputs()
        self.assertEqual(listed, sorted(listed))
        self.assertIn("gristmill_guest/program.py", listed)
        self.assertFalse([name for name in listed if name.startswith("tests/")])

    def test_what_a_failed_import_offers_is_what_is_bundled(self):
        from gristmill_guest import missing

        pins = re.findall(r"^([\w-]+)==", build.lock_section("bundled"), re.MULTILINE)
        renamed = {"python-dateutil": "dateutil", "PyYAML": "yaml"}
        self.assertEqual(sorted(renamed.get(pin, pin.replace("-", "_")) for pin in pins), sorted(missing.BUNDLED))


if __name__ == "__main__":
    unittest.main()
