"""What the interpreter shows of itself: its end, its numbers, its hashes."""

import csv
import hashlib
import io
import sys
import types
import unittest

from gristmill_guest import key_derivation, word_size
from tests.fake_host import Session
from tests.test_program import World, ok


class ExitHandlers(World):
    def test_they_run_at_the_end_the_last_first(self):
        self.check(
            """
            import atexit
            result = []
            atexit.register(result.append, "first")
            @atexit.register
            def second():
                result.append("second")
            atexit.register(print)
            atexit.unregister(print)
            result.append("program")
            """,
            ok(["program", "second", "first"]),
        )

    def test_they_run_after_a_failure_and_an_exit(self):
        code = "import atexit, sys\nresult = []\natexit.register(result.append, 1)\n"
        for end in ("1 / 0", "sys.exit()", "sys.exit('no')"):
            self.assertEqual(self.run_program(code + end)["result"], [1])

    def test_one_that_fails_is_noted_and_the_others_run(self):
        code = "import atexit\nresult = []\natexit.register(result.append, 1)\natexit.register(lambda: 1 / 0)"
        note = "an atexit function failed on line 4: ZeroDivisionError: division by zero"
        self.check(code, ok([1], [note]))

    def test_one_that_is_not_callable_is_refused(self):
        self.assertEqual(self.error("import atexit\natexit.register(1)")["type"], "TypeError")

    def test_each_program_of_a_session_has_its_own(self):
        with Session() as session:
            session.result("import atexit\nseen = []\natexit.register(seen.append, 1)\nNone")
            self.assertEqual(session.result("seen"), [1])
            self.assertEqual(session.result("seen"), [1])


class WordSize(unittest.TestCase):
    def setUp(self):
        for module, name in ((sys, "maxsize"), (csv, "field_size_limit"), (word_size, "COUNT_MAX")):
            self.addCleanup(setattr, module, name, getattr(module, name))
        self.addCleanup(csv.field_size_limit, csv.field_size_limit())

    def test_the_largest_size_is_that_of_a_64_bit_python(self):
        sys.maxsize = 2**31 - 1
        word_size.install()
        self.assertEqual(sys.maxsize, 2**63 - 1)

    def test_csv_takes_it_for_no_limit(self):
        word_size.COUNT_MAX = 2**31 - 1
        word_size.install()
        csv.field_size_limit(sys.maxsize)
        self.assertEqual(csv.field_size_limit(), 2**31 - 1)
        self.assertEqual(list(csv.reader(io.StringIO("a,b"))), [["a", "b"]])
        csv.field_size_limit(1000)
        self.assertEqual(csv.field_size_limit(), 1000)
        with self.assertRaises(OverflowError):
            csv.field_size_limit(2**64)

    def test_the_library_counts_as_far_as_the_interpreter_does(self):
        import gzip

        word_size.install()
        streams = [sys.modules[name] for name in word_size._COUNTING if name in sys.modules]
        self.addCleanup(lambda: [setattr(module, "sys", sys) for module in streams])
        self.assertTrue(streams and all(type(module.sys) is types.SimpleNamespace for module in streams))
        packed = io.BytesIO(gzip.compress(b"x" * 100))
        self.assertEqual(gzip.GzipFile(fileobj=packed).read(), b"x" * 100)


class KeyDerivation(unittest.TestCase):
    def test_keys_are_those_of_openssl(self):
        for arguments in (
            ("sha1", b"password", b"salt", 2),
            ("sha256", b"password", b"salt", 1000),
            ("sha512", bytearray(b"p" * 200), memoryview(b"salt"), 10, 100),
            ("sha256", b"", b"", 1, 7),
            ("md5", b"p", b"s", 3, 40),
        ):
            with self.subTest(arguments=arguments):
                self.assertEqual(key_derivation.pbkdf2_hmac(*arguments), hashlib.pbkdf2_hmac(*arguments))

    def test_wrong_arguments_are_refused_alike(self):
        for arguments, error in (
            (("sha256", b"p", b"s", 0), ValueError),
            (("sha256", b"p", b"s", 1, 0), ValueError),
            (("sha256", "p", b"s", 1), TypeError),
            (("none", b"p", b"s", 1), ValueError),
            ((b"sha256", b"p", b"s", 1), TypeError),
        ):
            with self.subTest(arguments=arguments), self.assertRaises(error):
                key_derivation.pbkdf2_hmac(*arguments)


del World
if __name__ == "__main__":
    unittest.main()
