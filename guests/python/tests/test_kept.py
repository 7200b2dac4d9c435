"""Programs that go on with the variables of the one before."""

import sys
import textwrap
import unittest

from gristmill_guest import environment, loose_ends, namespace, stdio
from tests.fake_host import FakeHost, Session
from tests.places import BesideTrees


class World(unittest.TestCase):
    def setUp(self):
        self.session = Session(FakeHost(echo=lambda arguments: arguments))
        self.session.__enter__()
        self.addCleanup(self.session.__exit__)

    def run_program(self, code, **options):
        return self.session.run(textwrap.dedent(code), **options)

    def check(self, code, expected, **options):
        outcome = self.run_program(code, **options)
        self.assertEqual((outcome["ok"], outcome["result"]), (True, expected), outcome)

    def error(self, code, **options):
        outcome = self.run_program(code, **options)
        self.assertFalse(outcome["ok"], outcome)
        return outcome["error"]


class Variables(World):
    def test_names_functions_imports_and_classes_are_there_in_the_next_program(self):
        self.run_program(
            """
            import collections
            class Point:
                def __init__(self, x): self.x = x
            def twice(n): return 2 * n
            points, seen = [Point(1)], collections.Counter("aab")
            """
        )
        code = "[twice(points[0].x), seen['a'], collections.__name__, isinstance(points[0], Point)]"
        self.check(code, [2, 2, "collections", True])
        self.check("import pickle\npickle.loads(pickle.dumps(points[0])).x", 1)
        self.check("import __main__\n__main__.points is points and __name__", "__main__")

    def test_context_variables_are_added_and_stay(self):
        self.check("n + 1", 2, context={"n": 1})
        self.check("n + m", 11, context={"m": 10})
        self.check("n + m", 7, context={"n": -3})

    def test_a_bad_context_changes_nothing(self):
        self.run_program("n = 1")
        self.assertEqual(self.error("1", context={"n": 5, "json": 6})["kind"], "context")
        self.check("n", 1)

    def test_a_failed_program_keeps_what_it_had_done(self):
        self.run_program("n = 1")
        self.assertEqual(self.error("n = 2\n1 / 0")["line"], 2)
        self.check("n", 2)
        self.assertEqual(self.error("n = 3\nn = = 4")["kind"], "syntax")
        self.check("n", 2)
        self.assertEqual(self.error("n = 5\nimport sys\nsys.exit('enough')")["kind"], "exit")
        self.check("n", 5)

    def test_a_syntax_error_in_the_first_program_leaves_a_session_that_works(self):
        self.assertEqual(self.error("x = = 1")["kind"], "syntax")
        self.check("x = 1\nx", 1)

    def test_random_numbers_go_on(self):
        self.run_program("import random\nrandom.seed(1)\nrandom.random()")
        self.check("then = random.getstate()\nrandom.seed(1)\nrandom.random()\nrandom.getstate() == then", True)

    def test_a_program_that_does_not_keep_its_variables_is_told_nothing_of_them(self):
        from tests.fake_host import run

        self.run_program("n = 1")
        self.assertEqual(run("n")["error"]["type"], "NameError")


class Results(World):
    def test_a_result_of_an_earlier_program_is_no_result_of_this_one(self):
        self.check("result = [1]", [1])
        self.check("x = 1", None)
        self.check("len(result)", 1)
        self.check("result.append(2)\nresult[-1]", 2)

    def test_an_equal_result_counts_if_it_was_assigned(self):
        self.check("result = 5", 5)
        self.check("result = 5", 5)
        self.check("result", 5)
        self.check("result += 0", 5)
        self.check("x = await asyncio.sleep(0, 5)\nresult = x", 5)

    def test_a_function_of_an_earlier_program_can_set_it(self):
        self.run_program("def finish(value):\n    global result\n    result = value")
        self.check("finish([3])", [3])


class Lines(World):
    def test_an_error_names_the_line_of_the_present_program_and_shows_the_earlier_one(self):
        self.run_program("# one\n# two\ndef fail(n):\n    return n / 0  # here")
        error = self.error("x = 1\nfail(x)")
        self.assertEqual(error["line"], 2)
        self.assertIn('File "program-2.py", line 2\n    fail(x)', error["traceback"])
        self.assertIn('File "program.py", line 4, in fail\n    return n / 0  # here', error["traceback"])

    def test_a_call_has_the_line_of_the_present_program(self):
        self.run_program("async def ask():\n    return await callMCPTool('echo', n=1)")
        self.check("\n\nawait ask()", {"n": 1})
        self.assertEqual(self.session.host.started[0][1]["line"], 3)

    def test_the_lines_of_only_so_many_programs_are_remembered(self):
        from linecache import cache

        for number in range(namespace.SOURCES_MAX + 3):
            self.run_program(str(number))
        names = [name for name in cache if name.startswith("program")]
        self.assertEqual((len(names), "program.py" in names), (namespace.SOURCES_MAX, False))


class LooseEnds(World):
    def test_a_task_of_an_earlier_program_is_over_and_the_loop_is_a_new_one(self):
        outcome = self.run_program(
            """
            done = []
            async def later():
                await asyncio.sleep(1)
                done.append(1)
            task = asyncio.create_task(later())
            loop = asyncio.get_running_loop()
            await asyncio.sleep(0)
            """
        )
        self.assertIn("later was still running when the program ended", outcome["notes"][0])
        code = "await asyncio.sleep(5)\n[task.cancelled(), done, asyncio.get_running_loop() is loop]"
        self.check(code, [True, [], False])

    def test_calls_that_were_not_answered_say_so_and_the_others_keep_their_answer(self):
        self.run_program(
            """
            answered, open_call = callMCPTool("echo", n=1), callMCPTool("echo", delay_ms=1000)
            await answered
            task = asyncio.create_task(open_call)
            await asyncio.sleep(0)
            """
        )
        self.check("await answered", {"n": 1})
        self.assertIn("sent by an earlier program", self.error("await open_call")["message"])

    def test_a_forgotten_call_is_told_once_and_can_still_be_sent(self):
        self.assertEqual(self.error("call = callMCPTool('echo', n=1)")["kind"], "unawaited_call")
        self.check("1", 1)
        self.check("await call", {"n": 1})

    def test_notes_belong_to_one_program(self):
        self.assertEqual(len(self.run_program("async def f(): pass\nf()\n1 / 0")["notes"]), 1)
        self.assertEqual(self.run_program("1")["notes"], [])


class Damage(World):
    def test_replaced_streams_are_back_and_closed_ones_are_new(self):
        self.run_program("import sys, io\nsys.stdout = io.StringIO()")
        self.check("type(sys.stdout).__name__", "TextIOWrapper")
        self.addCleanup(setattr, stdio, "live", stdio.live)
        stdio.live = stdio.nowhere
        self.run_program("sys.stdout.close()")
        self.check("print('heard')\nsys.stdout.closed", False)

    def test_hidden_names_stay_hidden_and_reporting_goes_on(self):
        self.run_program("len = sorted = print = None\nasyncio = callMCPTool = 5")
        self.check("[1, 2]", [1, 2])
        self.check("callMCPTool", 5)

    def test_an_emptied_namespace_still_runs(self):
        self.run_program("globals().clear()")
        self.check("x = 1\nx + 1", 2)

    def test_an_interpreter_that_cannot_report_any_more_says_so(self):
        self.addCleanup(setattr, loose_ends, "settle", loose_ends.settle)
        outcome = self.run_program("from gristmill_guest import loose_ends\nloose_ends.settle = None")
        self.assertEqual((outcome["ok"], outcome.get("damaged")), (False, True), outcome)

    def test_one_that_fails_before_the_program_says_so_too(self):
        self.run_program("1")
        whole = environment.continue_as
        self.addCleanup(setattr, environment, "continue_as", whole)
        environment.continue_as = None
        outcome = self.run_program("1")
        self.assertEqual((outcome["ok"], outcome.get("damaged")), (False, True), outcome)

    def test_main_is_the_session_s_again(self):
        self.run_program("import sys\nmain = sys.modules['__main__']\nsys.modules['__main__'] = sys")
        self.check("sys.modules['__main__'] is main", True)
        self.assertIn("__main__", sys.modules)


class SkillsSince(BesideTrees):
    """/skills is as it was when the interpreter began; what was saved since is asked for."""

    def setUp(self):
        super().setUp()
        self.saved = {}
        self.session = Session(FakeHost(skill=self.answer))
        self.session.__enter__()
        self.addCleanup(self.session.__exit__)

    def answer(self, request):
        if request["action"] == "names":
            return {"names": sorted(self.saved)}
        return {"code": self.saved.get(request["name"])}

    def test_what_others_saved_is_imported_and_loaded_by_the_next_program(self):
        self.session.run("n = 1")
        self.saved["doubler"] = "def double(n): return 2 * n"
        outcome = self.session.run("from skills.doubler import double\nresult = [double(n), load_skill('doubler')]")
        self.assertEqual(outcome["result"], [2, self.saved["doubler"]], outcome)
        self.saved["doubler"] = "def double(n): return 0"
        outcome = self.session.run("exec(load_skill('doubler'))\nresult = double(n)")
        self.assertEqual(outcome["result"], 0, outcome)

    def test_what_is_not_there_is_told_with_what_is(self):
        self.session.run("n = 1")
        self.saved["doubler"] = "x = 1"
        outcome = self.session.run("import skills.dubler")
        self.assertIn("did you mean 'skills.doubler'?", outcome["error"]["message"])

