import unittest

from tests import Reader

ONE_FAILS = """\
running 2 tests
test calls::a ... ok
test presence::b ... FAILED

failures:

---- presence::b ----
test panicked:
    this line is of the output


failures:
    presence::b

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s

error: test failed, to rerun pass `-p gristmill-mcp --test upstreams`
test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
error: 1 target failed:
    `-p gristmill-mcp --test upstreams`
"""
KILLED = """\
running 2 tests
error: test failed, to rerun pass `-p gristmill-cli --test serve`
error: 1 target failed:
    `-p gristmill-cli --test serve`
"""


def read(text):
    reader = Reader()
    for line in text.splitlines():
        reader.line(line)
    return reader


class WhatFailed(unittest.TestCase):
    def test_a_failed_test_is_found_with_its_binary_and_nothing_of_its_output(self):
        reader = read(ONE_FAILS)
        self.assertEqual(reader.tests(), [(["-p", "gristmill-mcp", "--test", "upstreams"], "presence::b")])
        self.assertEqual(reader.passed, 8)

    def test_a_binary_that_died_names_no_test(self):
        self.assertIsNone(read(KILLED).tests())
        self.assertIsNone(read(ONE_FAILS + KILLED).tests())

    def test_a_build_that_fails_names_no_test(self):
        self.assertIsNone(read("error: could not compile `gristmill-cli`").tests())


if __name__ == "__main__":
    unittest.main()
