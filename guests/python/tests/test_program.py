import os
import sys
import textwrap
import unittest

from tests.fake_host import FakeHost, run


def ok(result=None, notes=()):
    return {"ok": True, "result": result, "has_result": result is not None, "notes": list(notes)}


class World(unittest.TestCase):
    def setUp(self):
        self.host = FakeHost(echo=lambda arguments: arguments, fail=self._fail)

    @staticmethod
    def _fail(arguments):
        raise RuntimeError("it broke")

    def run_program(self, code, **options):
        return run(textwrap.dedent(code), self.host, **options)

    def check(self, code, expected, **options):
        self.assertEqual(self.run_program(code, **options), expected)

    def error(self, code, **options):
        outcome = self.run_program(code, **options)
        self.assertFalse(outcome["ok"], outcome)
        return outcome["error"]


class Results(World):
    def test_the_variable_result_wins_over_the_last_expression(self):
        self.check("result = 1\n2", ok(1))

    def test_the_last_expression_counts_otherwise(self):
        self.check("x = 20\nx + 1", ok(21))

    def test_no_value_is_no_result(self):
        self.check("x = 1", ok())
        self.check("None", ok())

    def test_a_last_coroutine_is_awaited(self):
        self.check("async def main():\n    return 5\nmain()", ok(5))
        self.check('callMCPTool("echo", a=1)', ok({"a": 1}))

    def test_an_awaitable_result_is_awaited(self):
        main = "async def main():\n    await asyncio.sleep(1)\n    return 5\n"
        for code in (
            "result = main()",
            "result = main()\nprint(1)",
            "await asyncio.sleep(0)\nresult = main()",
            "await asyncio.sleep(0)\nresult = asyncio.create_task(main())",
            "if __name__ == '__main__':\n    result = main()",
            "result = main()\nresult",
        ):
            with self.subTest(code=code):
                self.check(main + code, ok(5))
        self.check('result = callMCPTool("echo", a=1)', ok({"a": 1}))

    def test_an_awaitable_result_that_fails_is_no_result(self):
        outcome = self.run_program("async def main():\n    return 1 / 0\nresult = main()")
        self.assertEqual((outcome["error"]["line"], outcome["has_result"]), (2, False))

    def test_helpers_that_need_no_await_allow_it(self):
        self.addCleanup(os.chdir, os.getcwd())
        code = """
        import os, tempfile
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        size = await write_file("a.txt", "text")
        both = await asyncio.gather(write_file("b.txt", "b"), read_file("a.txt"))
        names = await list_directory()
        result = [size, both, await read_file("a.txt"), names, type(size + 1).__name__]
        """
        self.check(code, ok([4, [1, "text"], "text", ["a.txt", "b.txt"], "int"]))

    def test_the_main_guard_runs(self):
        self.check('if __name__ == "__main__":\n    result = 1', ok(1))

    def test_context_variables_are_globals(self):
        self.check("n * 2", ok(6), context={"n": 3})

    def test_a_command_line_in_the_context_becomes_sys_argv_and_no_variable(self):
        context = {"sys.argv": ["job.py", "a b", "--n=1"], "n": 3}
        self.check("import sys\n[sys.argv, n]", ok([["job.py", "a b", "--n=1"], 3]), context=context)
        self.check("import sys\nlen(sys.argv)", ok(1))
        self.assertEqual(self.error("1", context={"sys.argv": "a b"})["kind"], "context")

    def test_a_bad_context_name_is_refused(self):
        for name in ("a b", "class", "__x__", "callMCPTool", "json"):
            self.assertEqual(self.error("1", context={name: 1})["kind"], "context")

    def test_limits_are_named(self):
        error = self.error("'x' * 1000", result_bytes=100)
        self.assertEqual((error["kind"], error["limit"]), ("result_limit", {"name": "result_bytes", "value": 100}))


class ToolCalls(World):
    def test_the_call_carries_name_arguments_and_line(self):
        self.check('x = 1\nawait callMCPTool("echo",\n  {"a": 1}, b=2)', ok({"a": 1, "b": 2}))
        self.assertEqual(self.host.started, [("tool", {"name": "echo", "arguments": {"a": 1, "b": 2}, "line": 2})])

    def test_parallel_calls_overlap(self):
        before = self.host.now
        self.check('r = await asyncio.gather(*(callMCPTool("echo", delay_ms=100) for _ in range(10)))\nlen(r)', ok(10))
        self.assertAlmostEqual(self.host.now - before, 0.1, places=3)

    def test_every_asyncio_way_to_start_a_call_works(self):
        self.check(
            """
            a = await asyncio.create_task(callMCPTool("echo", n=1))
            b = await asyncio.wait_for(callMCPTool("echo", n=2), 1)
            async with asyncio.TaskGroup() as group:
                c = group.create_task(callMCPTool("echo", n=3))
            d = [await step for step in asyncio.as_completed([callMCPTool("echo", n=4)])]
            e = await asyncio.shield(callMCPTool("echo", n=5))
            [v["n"] for v in (a, b, c.result(), *d, e)]
            """,
            ok([1, 2, 3, 4, 5]),
        )

    def test_a_call_may_be_awaited_again(self):
        self.check('c = callMCPTool("echo", n=1)\n[await c, await c]', ok([{"n": 1}, {"n": 1}]))
        self.assertEqual(len(self.host.started), 1)

    def test_a_failure_raises_tool_error(self):
        self.check(
            'try:\n    await callMCPTool("fail")\nexcept ToolError as e:\n    result = [str(e), e.tool, e.code]',
            ok(["it broke", "fail", -32000]),
        )
        error = self.error('await callMCPTool("fail")')
        self.assertEqual((error["kind"], error["message"], error["line"]), ("tool", "it broke", 1))

    def test_a_time_out_cancels_the_call(self):
        self.check(
            """
            try:
                await asyncio.wait_for(callMCPTool("echo", delay_ms=5000), 0.01)
            except TimeoutError:
                result = "late"
            """,
            ok("late"),
        )
        self.assertEqual(self.host.cancelled, [1])

    def test_arguments_that_json_cannot_carry_are_named(self):
        for code, message in (
            ('callMCPTool("t", {"a": [{1}]})', "arguments.a[0] is a set"),
            ('callMCPTool("t", {"a": {1: 2}})', "arguments.a has the key 1 of type int"),
            ('callMCPTool("t", [1])', "the arguments of a tool are a dict, not list"),
            ('callMCPTool("t", x=float("nan"))', "arguments.x is nan"),
        ):
            error = self.error(code)
            self.assertEqual(error["type"], "TypeError")
            self.assertIn(message, error["message"])

    def test_a_forgotten_await_is_an_error_with_its_line(self):
        outcome = self.run_program('x = 1\ncallMCPTool("echo")\nresult = 3')
        self.assertEqual(outcome["result"], 3)
        self.assertEqual(outcome["error"]["kind"], "unawaited_call")
        self.assertEqual(outcome["error"]["line"], 2)
        self.assertEqual(
            outcome["error"]["message"], 'callMCPTool("echo") on line 2 was never awaited, so it wasn\'t sent'
        )

    def test_a_forgotten_await_in_a_failing_program_is_a_note(self):
        outcome = self.run_program('callMCPTool("echo")\n1 / 0')
        self.assertEqual(outcome["error"]["type"], "ZeroDivisionError")
        self.assertEqual(outcome["notes"], ['callMCPTool("echo") on line 1 was never awaited, so it wasn\'t sent'])

    def test_a_cancelled_call_is_not_forgotten(self):
        self.check(
            't = asyncio.create_task(callMCPTool("echo"))\nt.cancel()\nawait asyncio.sleep(0)\nt.cancelled()', ok(True)
        )


class Asyncio(World):
    def test_run_works_with_and_without_a_running_program(self):
        main = "async def main():\n    await asyncio.sleep(1)\n    return 5\n"
        self.check(main + "asyncio.run(main())", ok(5))
        self.check(main + "await asyncio.sleep(1)\nasyncio.run(main())", ok(5))
        self.check(main + "await asyncio.sleep(1)\nwith asyncio.Runner() as r:\n    result = r.run(main())", ok(5))
        self.check(main + "asyncio.get_event_loop().run_until_complete(main())", ok(5))
        self.check(main + "await asyncio.sleep(1)\nasyncio.get_event_loop().run_until_complete(main())", ok(5))

    def test_a_call_of_the_outer_loop_may_finish_during_an_inner_run(self):
        self.check(
            """
            outer = asyncio.create_task(callMCPTool("echo", n=1, delay_ms=10))
            await asyncio.sleep(0)
            asyncio.run(asyncio.sleep(1))
            inner = asyncio.run(callMCPTool("echo", n=2, delay_ms=50))
            [(await outer)["n"], inner["n"], asyncio.current_task().get_name()]
            """,
            ok([1, 2, "main"]),
        )

    def test_threads_run_in_place(self):
        self.check("await asyncio.to_thread(sum, [1, 2])", ok(3))

    def test_a_deadlock_is_an_error_with_its_line(self):
        error = self.error("q = asyncio.Queue()\nasync def f():\n    await q.get()\nawait f()")
        self.assertEqual((error["type"], error["line"]), ("Deadlock", 3))

    def test_background_failures_and_leftovers_are_noted(self):
        outcome = self.run_program(
            """
            async def bad():
                raise ValueError("x")
            task = asyncio.create_task(bad())
            left = asyncio.create_task(asyncio.sleep(9))
            await asyncio.sleep(0.01)
            """
        )
        self.assertEqual(
            sorted(outcome["notes"]),
            [
                "a background task failed on line 3: ValueError: x",
                "the background task sleep was still running when the program ended, so it was canceled; await it",
            ],
        )

    def test_a_coroutine_that_never_runs_is_an_error_with_its_line(self):
        main = "async def main():\n    return 5\n"
        for code in ("main()\nx = 1", "y = main()\nx = 1", "result = [main()]", "[main()]", "y = {'a': main()}\n1"):
            with self.subTest(code=code):
                error = self.error(main + code)
                self.assertEqual((error["kind"], error["line"]), ("unawaited_call", 3))
                self.assertEqual(error["message"], "main() on line 3 was never awaited, so it didn't run")
                self.assertEqual(error["hint"], "write: await main(...)")
        error = self.error("import asyncio\nasyncio.sleep(1)\nresult = 1")
        self.assertEqual(error["message"], "sleep() on line 2 was never awaited, so it didn't run")

    def test_of_several_forgotten_awaits_the_first_is_the_error(self):
        outcome = self.run_program("async def f():\n    pass\nf()\ncallMCPTool('echo')\nf()\nx = 1")
        self.assertEqual(outcome["error"]["line"], 3)
        self.assertEqual(len(outcome["notes"]), 2)

    def test_a_coroutine_in_a_failing_program_is_a_note(self):
        outcome = self.run_program("async def f():\n    pass\nf()\n1 / 0")
        self.assertEqual(outcome["error"]["type"], "ZeroDivisionError")
        self.assertEqual(outcome["notes"], ["f() on line 3 was never awaited, so it didn't run"])

    def test_coroutines_that_the_program_closes_or_cancels_are_not_forgotten(self):
        self.check("async def f():\n    pass\nc = f()\nc.close()\n1", ok(1))
        self.check("t = asyncio.create_task(asyncio.sleep(9))\nt.cancel()\nawait asyncio.sleep(0)\n1", ok(1))
        self.check("try:\n    await asyncio.wait_for(asyncio.sleep(9), 0)\nexcept TimeoutError:\n    result = 1", ok(1))

    def test_task_names_start_at_one(self):
        for _ in range(2):
            self.check("t = asyncio.create_task(asyncio.sleep(0))\nawait t\nt.get_name()", ok("Task-1"))


class Errors(World):
    def test_a_traceback_shows_own_lines_and_folds_the_library(self):
        error = self.error('def f(s):\n    return json.loads(s)\nf("{bad")')
        shown = error["traceback"]
        self.assertIn('File "program.py", line 2, in f\n    return json.loads(s)', shown)
        self.assertEqual((error["line"], error["type"]), (2, "JSONDecodeError"))

    def test_chains_are_kept(self):
        shown = self.error('try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError("bad") from e')[
            "traceback"
        ]
        self.assertIn("ZeroDivisionError: division by zero", shown)
        self.assertIn("direct cause", shown)

    def test_groups_are_kept(self):
        shown = self.error('raise ExceptionGroup("many", [ValueError(1), KeyError(2)])')["traceback"]
        self.assertIn("ValueError: 1", shown)
        self.assertIn("KeyError: 2", shown)

    def test_recursion_is_folded_and_bounded(self):
        error = self.error("def f(n):\n    return f(n + 1)\nf(0)")
        self.assertEqual(error["kind"], "recursion")
        self.assertIn("more times]", error["traceback"])
        self.assertLess(len(error["traceback"]), 8200)

    def test_a_syntax_error_has_its_line_and_caret(self):
        error = self.error("x = 1\ny = = 2")
        self.assertEqual((error["kind"], error["line"]), ("syntax", 2))
        self.assertIn("^", error["traceback"])

    def test_a_failing_str_is_survived(self):
        error = self.error("class E(Exception):\n    def __str__(self):\n        raise ValueError\nraise E()")
        self.assertEqual(error["message"], "<the exception's __str__ raised ValueError>")

    def test_a_reason_behind_many_blank_lines_is_told(self):
        self.assertEqual(self.error("raise ValueError('\\n' * 50_000 + 'the reason')")["message"], "the reason")

    def test_exit_codes(self):
        self.check("import sys\nsys.exit()", ok())
        self.check("import sys\nsys.exit(0)", ok())
        self.assertEqual(self.error("import sys\nsys.exit(3)")["kind"], "exit")
        self.assertEqual(self.error("raise SystemExit('no')")["message"], "the program exited: no")

    def test_base_exceptions_are_reported(self):
        for name in ("KeyboardInterrupt", "GeneratorExit", "asyncio.CancelledError"):
            for prefix in ("", "await asyncio.sleep(0)\n"):
                error = self.error(f"{prefix}raise {name}")
                self.assertEqual((error["kind"], error["type"]), ("exception", name.rsplit(".")[-1]))

    @unittest.skipIf(sys.version_info < (3, 12), "older versions suggest only when they print")
    def test_names_come_with_suggestions(self):
        self.assertEqual(self.error("value = 1\nvalu")["hint"], "Did you mean: 'value'?")

    def test_memory_is_its_own_kind(self):
        self.assertEqual(self.error("raise MemoryError")["kind"], "memory")

    def test_input_says_what_to_do(self):
        self.assertIn("context variables", self.error("input()")["message"])

    def test_source_of_the_program_can_be_inspected(self):
        self.check("import inspect\ndef f():\n    return 1\ninspect.getsource(f)", ok("def f():\n    return 1\n"))

    def test_lone_surrogates_do_not_break_the_outcome(self):
        self.assertEqual(self.error(r"raise ValueError('\ud800')")["message"], "\ufffd")


if __name__ == "__main__":
    unittest.main()
