"""What is read of Test262's files, and what is made of a report."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "test262"))

from outcome import complaints, read_expected, table, write_expected
from program import PASSED, Programs, judge
from suite import Claims, Test

CLAIMS = """
folders = ["language/statements", "language"]
[left_out.flags]
noStrict = "strict"
[left_out.features]
cross-realm = "one realm"
[left_out.folders]
"language/statements/with" = "no with"
[left_out.text]
"_FIXTURE" = "no files"
"""


def test_of(front, code="", name="language/x"):
    return Test.read(name, f"// A comment\n/*---\n{front}\n---*/\n{code}")


class Read(unittest.TestCase):
    def test_lists_come_in_brackets_or_line_by_line(self):
        test = test_of("flags: [generated, async]\nfeatures: [a,\n  b]\nincludes:\n  - one.js\n  - two.js\ninfo: x")
        self.assertEqual(test.flags, {"generated", "async"})
        self.assertEqual(test.features, {"a", "b"})
        self.assertEqual(test.includes, ("one.js", "two.js"))

    def test_line_ends_may_be_those_that_are_tested(self):
        test = Test.read("language/x", "/*---\rflags: [async]\rincludes: [a.js]\rnegative:\r  phase: parse\r---*/")
        self.assertEqual((test.flags, test.includes, test.phase), ({"async"}, ("a.js",), "parse"))

    def test_when_it_must_fail_is_read_in_old_and_new_words(self):
        for phase, expected in (("early", "parse"), ("parse", "parse"), ("runtime", "runtime")):
            test = test_of(f"description: x\nnegative:\n  phase: {phase}\n  type: SyntaxError\nflags: [module]")
            self.assertEqual((test.phase, test.error), (expected, "SyntaxError"))
        self.assertEqual(test_of("description: x").phase, "")

    def test_what_is_left_out_has_its_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "claims.toml"
            path.write_text(CLAIMS)
            claims = Claims(path)
        self.assertEqual(claims.area("language/statements/for/a"), "language/statements")
        self.assertEqual(claims.area("language/a"), "language")
        self.assertIsNone(claims.area("annexB/a"))
        for test, reason in (
            (test_of("flags: [noStrict]"), "strict"),
            (test_of("features: [cross-realm]"), "one realm"),
            (test_of("", name="language/statements/with/a"), "no with"),
            (test_of("", "import './a_FIXTURE.js'"), "no files"),
            (test_of("", name="language/statements/without"), None),
        ):
            self.assertEqual(claims.reason_against(test), reason)


class Judged(unittest.TestCase):
    def check(self, test, report, has_passed):
        self.assertEqual(judge(test, report) is None, has_passed, judge(test, report))

    def test_one_that_comes_to_its_end_has_passed_whatever_it_leaves_behind(self):
        test = test_of("")
        self.check(test, {"status": "ok", "output": f"{PASSED}\n"}, True)
        late = {"status": "failed", "output": f"{PASSED}\n", "error": {"code": "GM-1102"}}
        self.check(test, late, True)
        self.check(test, {"status": "ok"}, False)
        self.check(test, {"status": "failed", "error": {"code": "GM-1102", "message": "Test262Error: x"}}, False)

    def test_one_that_must_not_be_parsed_may_not_fail_later(self):
        test = test_of("negative:\n  phase: parse\n  type: SyntaxError")
        self.check(test, {"status": "failed", "error": {"code": "GM-1101"}}, True)
        self.check(test, {"status": "failed", "error": {"code": "GM-1102", "message": "SyntaxError: x"}}, False)
        self.check(test, {"status": "ok"}, False)

    def test_one_that_must_fail_fails_with_the_right_error(self):
        test = test_of("negative:\n  phase: runtime\n  type: ReferenceError")
        self.check(test, {"status": "failed", "error": {"code": "GM-1102", "message": "ReferenceError: x"}}, True)
        self.check(test, {"status": "failed", "error": {"code": "GM-1102", "message": "TypeError: x"}}, False)


class Made(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in (("sta.js", "function Test262Error() {}"), ("assert.js", "var assert = 1;"), ("more.js", "")):
            (Path(folder.name) / name).write_text(text)
        self.programs = Programs(folder.name)

    def test_the_harness_comes_first_and_is_global(self):
        program = self.programs.of(test_of("includes: [more.js]", "x();"))
        self.assertLess(program.index("function Test262Error"), program.index("x();"))
        self.assertIn('defineProperty(globalThis, "assert"', program)
        self.assertTrue(program.endswith(f';$262Print("{PASSED}");'))
        self.assertNotIn("await", program)

    def test_an_async_one_is_awaited(self):
        program = self.programs.of(test_of("flags: [async]", "$DONE();"))
        self.assertLess(program.index("$DONE();"), program.index("await $262Settled"))

    def test_one_that_must_not_be_parsed_is_alone(self):
        test = test_of("negative:\n  phase: parse\n  type: SyntaxError", "var 1;")
        self.assertEqual(self.programs.of(test), test.code)


class Compared(unittest.TestCase):
    def test_every_difference_is_told(self):
        expected = {"a": "reason", "b": "reason", "gone": "reason", "c": ""}
        lines = complaints(expected, {"a", "b", "c", "d", "e"}, {"a": "x", "c": "x", "d": "wrong"}, True)
        self.assertEqual(
            lines,
            [
                "fails: d: wrong",
                "passes by now, so take it out of the list: b",
                "has no reason: c",
                "was not tested, so take it out of the list: gone",
            ],
        )
        self.assertEqual(complaints({}, set(), {}, True), ["nothing was tested"])
        self.assertEqual(complaints({"gone": "reason"}, {"a"}, {}, False), [])

    def test_the_list_is_written_as_it_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "expected.toml"
            write_expected(path, {"b": "wrong", "a": 'says "no"', "c": "wrong"}, {"a": 'a "reason"', "c": 'a "reason"'}.get)
            self.assertEqual(read_expected(path), {"a": 'a "reason"', "b": "", "c": 'a "reason"'})

    def test_the_table_counts_by_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "claims.toml"
            path.write_text(CLAIMS)
            lines = table(Claims(path), {"language/a", "language/statements/b"}, {"language/a": "x"}, {"z": "strict"})
        self.assertIn("| `language/statements` | 1 | 1 | 100.0% |", lines)
        self.assertIn("| together | 2 | 1 | 50.0% |", lines)
        self.assertIn("1 left out: strict", lines)


if __name__ == "__main__":
    unittest.main()
