import sys
import unittest

from gristmill_guest import hints, missing, tools, tracebacks
from tests.fake_host import run


def error_of(code):
    return run(code)["error"]


class MessagesStandAlone(unittest.TestCase):
    def test_the_type_comes_along_where_the_message_says_nothing(self):
        for code, message in (
            ('{}["x"]', "KeyError: 'x'"),
            ("assert False", "AssertionError"),
            ("assert False, []", "AssertionError: []"),
            ("raise ValueError", "ValueError"),
            ("raise ValueError(7)", "ValueError: 7"),
            ("import queue\nqueue.Queue().get_nowait()", "Empty"),
            ('raise ValueError("bad")', "bad"),
        ):
            with self.subTest(code=code):
                self.assertEqual(error_of(code)["message"], message)

    def test_memory_keeps_its_own_words(self):
        self.assertIn("more memory", error_of("raise MemoryError")["message"])

    def test_no_path_of_the_guest_is_in_a_message(self):
        for text, shown in (
            ("cannot import name 'x' from 'json' (<stdlib>/json/__init__.py)", "cannot import name 'x' from 'json'"),
            (
                "Task <Task pending coro=<main() running at <guest>/gristmill_guest/program.py:247>> got <Future>",
                "Task <Task pending coro=<main()>> got <Future>",
            ),
            ("see <bundled>/yaml/__init__.py", "see yaml/__init__.py"),
        ):
            with self.subTest(text=text):
                self.assertEqual(tracebacks.message_of(ValueError(text)), shown)


class Hints(unittest.TestCase):
    def test_for_common_mistakes(self):
        for code, hint in (
            ("x = 1\nreturn x", "set result = ..., or end with the expression"),
            ("!pip install requests", "remove the line: you can't install packages in the sandbox"),
            ("x = 1\npip install requests", "remove the line: you can't install packages in the sandbox"),
            ("%matplotlib inline", "remove the notebook magic (the line that starts with %)"),
            ("!ls", "remove the line: the sandbox has no shell"),
            (">>> x = 1", "remove the prompts (>>> and ...)"),
            ('print("a")\n```python\nprint("b")\n```', "remove the Markdown fences"),
            ("np.array([1])", f"numpy isn't in the sandbox: {missing.ADVICE['numpy']}"),
            ("pd.DataFrame()", f"pandas isn't in the sandbox: {missing.ADVICE['pandas']}"),
            ("list_orders()", 'if it is a tool, write: await callMCPTool("list_orders", {...})'),
            ("open('/etc/nowhere')", "programs see only /workspace and /tmp (and /servers, /skills and /results, read-only)"),
            ("import os\nos.environ['NO_SUCH_KEY']", "the sandbox has no environment variables; pass values as context"),
            ("{}['x']", None),
            ("await 5", "this isn't async: remove await"),
            ("await None", "this isn't async: remove await"),
            ("await [1]", hints._await_hint("list")),
            (
                'callMCPTool("t", 1, 2)',
                'pass the arguments of the tool by name: await callMCPTool("server.tool", name=value)',
            ),
            (
                "asyncio.create_task(asyncio.sleep(0))",
                "write await in front of something at top level, or use asyncio.run(main())",
            ),
        ):
            with self.subTest(code=code):
                self.assertEqual(error_of(code)["hint"], hint)

    def test_a_mistake_in_a_call_is_corrected_not_caught(self):
        for code, hint in (
            ("GM-1401", "use one of the names above"),
            ("GM-1402", "fix the argument"),
            ("GM-3301", None),
            (-32000, "catch it with: except ToolError as error"),
        ):
            error = tools.ToolError("there is no tool `a`; did you mean b?", code=code)
            self.assertEqual(hints.hint_for(error, "tool"), hint)


class Tracebacks(unittest.TestCase):
    def test_a_suggestion_is_told_once(self):
        for code in ("value = 1\nvalu", "import math\nmath.sqr(2)", "mcp.x", "from math import sqr", "calendar.x"):
            self.assertNotIn("Did you", error_of(code)["traceback"], code)
        self.assertIn("Did you mean it?", error_of("raise ValueError('Did you mean it?')")["traceback"])

    def test_a_count_that_nobody_knows_is_not_told(self):
        self.assertIn("repeated many more times", error_of("def f(n):\n    return f(n + 1)\nf(0)")["traceback"])
        shown = error_of("def f(n):\n    return f(n - 1) if n else 1 / 0\nf(20)")["traceback"]
        self.assertIn("repeated 17 more times", shown)


class MissingModules(unittest.TestCase):
    def message(self, name, known=("json", "bz2", "ssl", "compression")):
        with self.assertRaises(ModuleNotFoundError) as caught:
            missing.ExplainingFinder(set(known)).find_spec(name)
        return str(caught.exception), caught.exception.name

    def test_absent_parts_of_the_library_are_called_what_the_program_wrote(self):
        for name, public, advice in (
            ("_bz2", "bz2", "use zlib, gzip or zipfile"),
            ("_ssl", "ssl", "no network"),
            ("webbrowser", "webbrowser", "no display"),
            ("venv", "venv", "you can't install packages"),
            ("ctypes", "ctypes", "no operating system"),
            ("ctypes.util", "ctypes.util", "no operating system"),
        ):
            with self.subTest(name=name):
                message, told = self.message(name)
                self.assertEqual(told, public)
                self.assertIn(f"No module named '{public}': it isn't part of this build", message)
                self.assertIn(advice, message)

    def test_a_submodule_keeps_the_name_that_failed(self):
        message, told = self.message("_zstd")
        self.assertIn("No module named 'compression.zstd'", message)
        self.assertEqual(told, "_zstd")

    def test_others(self):
        self.assertNotIn("display", self.message("PIL")[0])
        self.assertNotIn("this build", self.message("numpy")[0])
        self.assertNotIn("this build", self.message("json.nothing")[0])


if __name__ == "__main__":
    sys.exit(unittest.main())
