import sys
import textwrap
import unittest

from gristmill_guest import host, loop, namespace
from tests.fake_host import Completion, FakeHost, Raw, Refusal, run

HITS = [
    {
        "tool": "chat.send_message",
        "server": "chat",
        "name": "send_message",
        "signature": "send_message(*, text: str) -> dict",
        "description": "Sends a message.",
    },
    {"tool": "mail.send", "server": "mail", "name": "send", "signature": "send()", "description": "Sends a mail."},
]
TEXT = "chat.send_message\nmail.send\n2 of 7 shown"


def found(request):
    return {"text": TEXT, "shown": 2, "total": 7, "hits": HITS}


def ok(result=None, notes=()):
    return {"ok": True, "result": result, "has_result": result is not None, "notes": list(notes)}


class World(unittest.TestCase):
    def setUp(self):
        self.host = FakeHost(search=found, search_delay_ms=50, echo=lambda arguments: arguments)

    def check(self, code, expected):
        self.assertEqual(run(textwrap.dedent(code), self.host), ok(expected))

    def error(self, code, fake=None):
        outcome = run(textwrap.dedent(code), fake or self.host)
        self.assertFalse(outcome["ok"], outcome)
        return outcome["error"]


class InThePrograms(World):
    def test_both_helpers_are_globals_and_importable(self):
        self.addCleanup(sys.modules.pop, "gristmill")
        namespace.make_importable()
        code = """
        import gristmill, pickle
        from gristmill import search_tools as again, describe_tool, ToolHits
        hits = again("x")
        [again is search_tools, pickle.loads(pickle.dumps(hits)) == hits, isinstance(hits, ToolHits)]
        """
        self.check(code, [True, True, True])

    def test_a_context_variable_may_not_hide_them(self):
        for name in ("search_tools", "describe_tool"):
            self.assertEqual(run("1", self.host, context={name: 1})["error"]["kind"], "context")


class Asking(World):
    def test_the_request_carries_every_argument_and_the_line(self):
        run('x = 1\nsearch_tools("send", server="s", category="c", detail="full", limit=3, offset=4)', self.host)
        run("search_tools()", self.host)
        asked = {"query": "send", "server": "s", "category": "c", "detail": "full", "limit": 3, "offset": 4, "line": 2}
        plain = dict.fromkeys(asked) | {"query": "", "detail": "summary", "limit": 10, "offset": 0, "line": 1}
        self.assertEqual(self.host.started, [("search", asked), ("search", plain)])

    def test_subclasses_of_text_and_numbers_are_taken(self):
        code = """
        import enum
        class Name(str): pass
        class Count(enum.IntEnum):
            FEW = 3
        search_tools(Name("x"), limit=Count.FEW, offset=10**30).total
        """
        self.check(code, 7)
        self.assertEqual([self.host.started[0][1][name] for name in ("query", "limit", "offset")], ["x", 3, 2**31 - 1])

    def test_wrong_arguments_are_named(self):
        for arguments, message in (
            ("5", "query of search_tools must be text, not int"),
            ("None", "query of search_tools must be text, not NoneType"),
            ("server=['a']", "server of search_tools must be text, not list"),
            ("category=1", "category of search_tools must be text, not int"),
            ("detail='all'", 'detail of search_tools must be one of names, summary, full, not "all"'),
            ("detail=None", "detail of search_tools must be one of names, summary, full, not NoneType"),
            ("limit='3'", "limit of search_tools must be a whole number, not str"),
            ("limit=True", "limit of search_tools must be a whole number, not bool"),
            ("limit=0", "limit of search_tools must be at least 1"),
            ("offset=-1", "offset of search_tools must be at least 0"),
            ("offset=1.5", "offset of search_tools must be a whole number, not float"),
        ):
            with self.subTest(arguments=arguments):
                error = self.error(f"search_tools({arguments})")
                self.assertEqual((error["type"], error["message"]), ("TypeError", message))
        self.assertEqual(self.host.started, [])

    def test_a_giant_query_is_refused_before_it_is_sent(self):
        error = self.error('search_tools("x" * (17 * 1024 * 1024))')
        self.assertEqual((error["kind"], error["code"]), ("tool", "GM-1208"))
        self.assertEqual(self.host.started, [])


class Hits(World):
    def test_they_are_a_list_of_dicts_with_attributes(self):
        code = """
        hits = search_tools("send a message")
        first = hits[0]
        [isinstance(hits, list), len(hits), first.tool, first["tool"], [hit.server for hit in hits], hits.shown,
         hits.total, isinstance(first, dict), json.loads(json.dumps(hits)) == hits, hasattr(first, "nothing")]
        """
        tool = "chat.send_message"
        self.check(code, [True, 2, tool, tool, ["chat", "mail"], 2, 7, True, True, False])

    def test_their_text_is_the_hosts(self):
        self.check('hits = search_tools("x")\n[str(hits), f"{hits}"]', [TEXT, TEXT])

    def test_as_a_result_they_are_plain_data(self):
        self.check('search_tools("x")', HITS)
        self.check('result = {"a": search_tools("x"), "b": 1}', {"a": HITS, "b": 1})

    def test_awaiting_them_gives_the_same_object(self):
        self.check('hits = search_tools("x")\n(await hits) is hits', True)
        self.check('[hit.name for hit in await search_tools("x")]', ["send_message", "send"])

    def test_they_can_be_copied_and_passed_to_a_tool(self):
        code = """
        import copy
        hits = search_tools("x")
        again = copy.deepcopy(hits)
        [again == hits, again.total, str(again), (await callMCPTool("echo", hits=hits))["hits"] == hits]
        """
        self.check(code, [True, 7, TEXT, True])

    def test_an_attribute_that_is_not_there_names_those_that_are(self):
        message = self.error('search_tools("x")[0].schema')["message"]
        self.assertEqual(message, 'a hit has no "schema"; it has: tool, server, name, signature, description')


class Failures(World):
    def test_a_refusal_is_a_tool_error(self):
        def refuse(request):
            raise Refusal(message="no such server", code="GM-1402", kind="bad_call", tool="", retry_safe=True)

        code = """
        x = 1
        try:
            search_tools("x")
        except ToolError as e:
            result = [str(e), e.tool, e.code, e.kind, e.line, e.retry_safe]
        """
        outcome = run(textwrap.dedent(code), FakeHost(search=refuse))
        self.assertEqual(outcome, ok(["no such server", "search_tools", "GM-1402", "bad_call", 4, True]))
        error = self.error('x = 1\nsearch_tools("x")', FakeHost(search=refuse))
        self.assertEqual(
            (error["kind"], error["code"], error["message"], error["line"]), ("tool", "GM-1402", "no such server", 2)
        )

    def test_an_answer_that_cannot_be_read_is_a_tool_error(self):
        for answer in (
            "",
            "no json",
            "[]",
            "null",
            "{}",
            '{"text": 1, "hits": []}',
            '{"text": "", "hits": {}}',
            '{"text": "", "hits": [1]}',
            '{"text": "", "hits": ' + "[" * 100_000,
            'F{"value": 1, "files": []}',
        ):
            with self.subTest(answer=answer[:30]):
                error = self.error("search_tools()", FakeHost(search=lambda request: Raw(answer)))
                self.assertEqual((error["kind"], error["message"]), ("tool", "the search answer can't be read"))

    def test_wrong_counts_do_not_spoil_the_hits(self):
        answer = {"text": "t", "hits": HITS, "shown": "two", "total": None}
        outcome = run("h = search_tools()\n[h.shown, h.total]", FakeHost(search=lambda request: answer))
        self.assertEqual(outcome, ok([2, 2]))


class AmongOtherCalls(World):
    def test_calls_that_finish_during_a_search_are_not_lost(self):
        code = """
        early = [asyncio.create_task(callMCPTool("echo", n=n, delay_ms=n)) for n in range(5)]
        late = asyncio.create_task(callMCPTool("echo", n=9, delay_ms=500))
        await asyncio.sleep(0)
        total = search_tools("x").total
        done = [task.done() for task in early]
        [total, done, [(await task)["n"] for task in early], (await late)["n"]]
        """
        self.check(code, [7, [False] * 5, [0, 1, 2, 3, 4], 9])
        self.assertEqual(self.host.cancelled, [])

    def test_a_search_takes_its_own_time_only(self):
        before = self.host.now
        code = """
        task = asyncio.create_task(callMCPTool("echo", delay_ms=400))
        await asyncio.sleep(0)
        search_tools("x")
        await task
        1
        """
        self.check(code, 1)
        self.assertAlmostEqual(self.host.now - before, 0.4, places=3)

    def test_searches_inside_gathered_coroutines(self):
        code = """
        async def work(n):
            before = await callMCPTool("echo", n=n, delay_ms=10 * n)
            hits = search_tools(f"query {n}")
            after = await callMCPTool(f"echo", n=hits.total + n)
            return [before["n"], after["n"]]
        await asyncio.gather(*(work(n) for n in range(6)))
        """
        self.check(code, [[n, 7 + n] for n in range(6)])
        queries = [request["query"] for kind, request in self.host.started if kind == "search"]
        self.assertEqual(queries, [f"query {n}" for n in range(6)])

    def test_a_search_may_be_gathered_and_made_a_task(self):
        code = """
        a, b, c = await asyncio.gather(search_tools("x"), search_tools("x"), callMCPTool("echo", n=1))
        d = await asyncio.create_task(search_tools("x"))
        e = await asyncio.wait_for(search_tools("x"), 1)
        async with asyncio.TaskGroup() as group:
            f = group.create_task(search_tools("x"))
        [a.total, b.total, c["n"], d.total, e.total, f.result().total]
        """
        self.check(code, [7, 7, 1, 7, 7, 7])

    def test_a_search_in_an_inner_run_hands_on_the_calls_of_the_outer_loop(self):
        code = """
        outer = asyncio.create_task(callMCPTool("echo", n=1, delay_ms=10))
        await asyncio.sleep(0)
        async def inner():
            return search_tools("x").total, (await callMCPTool("echo", n=2))["n"]
        [asyncio.run(inner()), (await outer)["n"]]
        """
        self.check(code, [[7, 2], 1])

    def test_a_search_without_any_loop(self):
        self.check('def find():\n    return search_tools("x").total\nfind() + find()', 14)

    def test_a_time_limit_around_a_search_ends_the_wait_that_follows(self):
        code = """
        try:
            async with asyncio.timeout(0.01):
                total = search_tools("x").total
                await callMCPTool("echo", delay_ms=1000)
        except TimeoutError:
            result = total
        """
        self.check(code, 7)

    def test_a_search_while_a_cancelled_task_cleans_up(self):
        code = """
        async def work():
            try:
                await callMCPTool("echo", delay_ms=1000)
            finally:
                totals.append(search_tools("x").total)
        totals = []
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        totals
        """
        self.check(code, [7])
        self.assertEqual(self.host.cancelled, [1])

    def test_a_call_of_a_closed_loop_is_dropped_and_the_others_arrive(self):
        code = """
        left = asyncio.new_event_loop()
        forgotten = left.create_task(callMCPTool("echo", n=0, delay_ms=10))
        left.run_until_complete(asyncio.sleep(0))
        left.close()
        kept = asyncio.create_task(callMCPTool("echo", n=1, delay_ms=20))
        await asyncio.sleep(0)
        [search_tools("x").total, (await kept)["n"]]
        """
        outcome = run(textwrap.dedent(code), self.host)
        self.assertEqual((outcome["ok"], outcome["result"]), (True, [7, 1]))


class Waiting(unittest.TestCase):
    """The wait itself, against a host that answers in odd ways."""

    def ask(self, answers):
        cancelled = []

        class Scripted:
            def start_call(self, kind, payload):
                return 5

            def wait_any(self, timeout_us):
                answer = answers.pop(0)
                if isinstance(answer, BaseException):
                    raise answer
                return answer

            def cancel_call(self, call_id):
                cancelled.append(call_id)

        previous = host.use(Scripted())
        try:
            return loop.Calls().ask("search", "{}"), cancelled
        except BaseException as error:
            return error, cancelled
        finally:
            host.use(previous)

    def test_empty_and_foreign_answers_are_waited_past(self):
        mine, foreign = Completion(5, True, "mine"), Completion(99, True, "foreign")
        self.assertEqual(self.ask([[], [foreign], [foreign, mine, foreign]]), ((True, "mine"), []))

    def test_an_interrupted_wait_gives_the_call_up(self):
        error = MemoryError()
        self.assertEqual(self.ask([[], error]), (error, [5]))


if __name__ == "__main__":
    unittest.main()
