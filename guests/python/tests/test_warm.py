import pathlib
import sys
import unittest

from gristmill_guest import host, tools, warm
from tests.fake_host import FakeHost, run


class AWarmUpLeavesNoTrace(unittest.TestCase):
    def test_nothing_is_sent_printed_or_kept(self):
        fake = FakeHost()
        previous = host.use(fake)
        before = (sys.stdout, sys.argv, sys.modules["__main__"], set(sys.modules))
        try:
            warm.warm()
            warm.warm()
        finally:
            host.use(previous)
        self.assertEqual((sys.stdout, sys.argv, sys.modules["__main__"], set(sys.modules)), before)
        self.assertEqual((fake.started, tools.unsent_calls()), ([], []))

    def test_it_reaches_the_end_of_its_program(self):
        outcome = run(warm.PROGRAM, FakeHost(warm=lambda arguments: 1))
        self.assertEqual(outcome["error"]["type"], "ZeroDivisionError")
        self.assertTrue(outcome["has_result"])


class Sample(unittest.TestCase):
    """The program that a worker's pages are readied with, in `crates/worker`. Each call is answered with one value."""

    SAMPLE = pathlib.Path(__file__).parents[3] / "crates" / "worker" / "src" / "engine" / "python" / "sample.py"

    def test_it_comes_to_its_end(self):
        class Tools:
            def __getitem__(self, name):
                return lambda arguments: {"total": 1}

        host = FakeHost()
        host._tools = Tools()
        outcome = run(self.SAMPLE.read_text(), host)
        self.assertTrue(outcome["ok"], outcome)
        self.assertEqual(len(host.started), 3)


if __name__ == "__main__":
    unittest.main()
