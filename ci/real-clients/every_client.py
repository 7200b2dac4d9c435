"""What every client must be able to do, over both transports, each in its own era of the protocol."""

import json

from served import Served, text_of

TOOLS = [
    "execute_code",
    "search_tools",
    "get_tool_definition",
    "get_execution",
    "execute_analysis",
    "write_workspace_file",
    "read_workspace_file",
    "list_workspace_files",
    "read_result",
    "save_skill",
    "load_skill",
    "list_skills",
    "delete_skill",
    "get_execution_stats",
]
# A resource of a server under our name for it: the server's own URI, escaped.
OURS = "gristmill://everything/demo%3A%2F%2Fresource%2F"
DOCUMENT = f"{OURS}static%2Fdocument%2Ffeatures.md"
AT_ONCE = 12

# Over HTTP a connection that was closed is noticed after a moment; the looks themselves take 1.2 s.
STOPPED_SECONDS_MAX = 4

SLOW = """
from servers.calculator import evaluate
for n in range(5):
    await evaluate(expression=str(n))
    await asyncio.sleep(0.4)
result = "slept"
"""


def program(name, code, **more):
    arguments = {"code": code, **more.pop("arguments", {})}
    return {"name": name, "do": "call", "tool": "execute_code", "arguments": arguments, **more}


def counting(path):
    """A program that goes on for a minute, and can be seen to."""
    return f"""
from servers.files import write_file
for i in range(300):
    await write_file(path="{path}", text=str(i))
    await asyncio.sleep(0.2)
"""

SKILL = {
    "name": "doubler",
    "code": 'def double(n):\n    """Doubles a number."""\n    return 2 * n\n',
    "test": {"call": "double(2)", "expect": 4},
}


def steps(home):
    # How long it went on after it was taken back: until two looks, three counts apart, see the same.
    still_counting = """
import time
from servers.files import read_file
began, before, now = time.monotonic(), None, ""
while before != now and time.monotonic() - began < 10:
    before = now
    await asyncio.sleep(0.6)
    now = (await read_file(path=name))["text"]
result = time.monotonic() - began
"""

    def looking(name):
        return {"timeout_s": 20, "context": {"name": name}}

    def file(action):
        return {"do": "call", "tool": f"{action}_workspace_file"}

    definition = {"do": "call", "tool": "get_tool_definition"}
    follow = {"do": "call", "tool": "get_execution"}
    background = {"background": True}
    begun = {"from": ["background", "structuredContent", "id"]}
    endless = {"from": ["endless", "structuredContent", "id"]}
    return [
        {"name": "tools", "do": "list_tools"},
        {"name": "tools again", "do": "list_tools"},
        program("sum", "sum(range(10))"),
        program("upstream", "result = await callMCPTool('calculator.evaluate', expression='6 * 7')"),
        program("imported", "from servers.calculator import evaluate as e\nresult = await e(expression='6')"),
        {
            "name": "at once",
            "do": "parallel",
            "tool": "execute_code",
            "each": [{"code": f"await asyncio.sleep(0.1)\nresult = {n}"} for n in range(AT_ONCE)],
        },
        program("printed", "print('one'); print('two')"),
        program("context", "result = [a + 1, b]", arguments={"context": {"a": 1, "b": ["x", None]}}),
        program("keep", "write_file('kept.txt', 'kept')", arguments={"session": "one"}),
        program("kept", "result = read_file('kept.txt')", arguments={"session": "one"}),
        program("not kept", "import os\nresult = os.path.exists('kept.txt')"),
        program("remember", "n = 41", arguments={"session": "two", "keep_variables": True}),
        program("remembered", "result = n + 1", arguments={"session": "two", "keep_variables": True}),
        {"name": "written", **file("write"), "arguments": {"session": "one", "path": "a/b.txt", "content": "text"}},
        {"name": "read", **file("read"), "arguments": {"session": "one", "path": "a/b.txt"}},
        {"name": "listed", "do": "call", "tool": "list_workspace_files", "arguments": {"session": "one"}},
        {"name": "saved", "do": "call", "tool": "save_skill", "arguments": SKILL},
        program("skill used", "from skills.doubler import double\nresult = double(21)"),
        {"name": "skills", "do": "call", "tool": "search_tools", "arguments": {"query": "doubles a number"}},
        {"name": "stats", "do": "call", "tool": "get_execution_stats", "arguments": {}},
        program("exception", "x = 1\nprint(x)\nraise ValueError('no such luck')"),
        program("syntax error", "x = 1\ny = (2\n"),
        program("tool error", "from servers.calculator import evaluate\nawait evaluate(expression='1 +')"),
        program("too long", "while True: pass", arguments={"timeout_s": 1}),
        {"name": "wrong argument", "do": "call", "tool": "execute_code", "arguments": {"cod": "1"}},
        {"name": "unknown tool", "do": "call", "tool": "execute_cod", "arguments": {"code": "1"}},
        {"name": "found", "do": "call", "tool": "search_tools", "arguments": {"query": "add two numbers"}},
        {"name": "servers", "do": "call", "tool": "search_tools", "arguments": {}},
        *(
            {"name": kind, **definition, "arguments": {"name": "calculator.evaluate", "format": kind}}
            for kind in ("python", "typescript", "json")
        ),
        {"name": "unknown definition", **definition, "arguments": {"name": "calculator.evalute"}},
        program("slow", SLOW, progress=True),
        {
            "name": "cancelled",
            "do": "cancel",
            "tool": "execute_code",
            "arguments": {"code": counting("cancelled.txt"), "timeout_s": 60},
            "when": str(home.files / "cancelled.txt"),
        },
        program("after cancelling", still_counting, arguments=looking("cancelled.txt")),
        program("background", "await asyncio.sleep(1.5)\nresult = 'done'", arguments=background),
        {"name": "followed", **follow, "arguments": {"id": begun, "wait_s": 20}},
        {"name": "followed again", **follow, "arguments": {"id": begun}},
        program("endless", counting("endless.txt"), arguments={**background, "timeout_s": 60}),
        {"name": "still running", **follow, "arguments": {"id": endless, "wait_s": 0.5}},
        {"name": "stopped", **follow, "arguments": {"id": endless, "cancel": True, "wait_s": 10}},
        program("after stopping", still_counting, arguments=looking("endless.txt")),
        {"name": "unknown id", **follow, "arguments": {"id": "nothing-like-it"}},
        {"name": "resources", "do": "list_resources"},
        {"name": "templates", "do": "list_templates"},
        {"name": "resource", "do": "read_resource", "uri": DOCUMENT},
        {"name": "from a template", "do": "read_resource", "uri": f"{OURS}dynamic%2Ftext%2F7"},
        {"name": "no resource", "do": "read_resource", "uri": f"{OURS}nothing"},
        {"name": "prompts", "do": "list_prompts"},
        {
            "name": "prompt",
            "do": "get_prompt",
            "prompt": "everything.args-prompt",
            "arguments": {"city": "Oslo", "state": "Norway"},
        },
        program("asked", "result = str(await callMCPTool('everything.trigger-elicitation-request'))"),
        program("last", "result = 'still here'"),
    ]


class EveryClient:
    steps = staticmethod(steps)

    # Connecting, and what is listed

    def test_it_connects_in_its_own_era(self):
        connected = self.seen["connected"]
        self.assertEqual(connected["protocol"], self.protocol)
        self.assertEqual(connected["server"]["name"], "gristmill")

    def test_the_description_of_programs_names_each_server(self):
        described = {tool["name"]: tool["description"] for tool in self.saw("tools")["tools"]}
        for server in ("calculator", "files", "everything"):
            self.assertIn(server, described["execute_code"])
        self.assertIn("execute_code", self.seen["connected"]["instructions"])

    def test_the_list_of_tools_is_the_same_each_time(self):
        first, second = self.saw("tools"), self.saw("tools again")
        self.assertEqual([tool["name"] for tool in first["tools"]], TOOLS)
        self.assertEqual(json.dumps(first["tools"]), json.dumps(second["tools"]))

    def test_every_tool_has_what_clients_show(self):
        for tool in self.saw("tools")["tools"]:
            with self.subTest(tool["name"]):
                self.assertLessEqual({"title", "description", "annotations", "outputSchema"}, set(tool))
                self.assertLess(len(tool["description"]), 2048)
                self.assertEqual(tool["inputSchema"]["type"], "object")
                self.assertEqual(tool["outputSchema"]["type"], "object")
                self.assertEqual(tool["_meta"], {"anthropic/alwaysLoad": True})

    # Programs that go well

    def test_a_program_answers_its_result(self):
        self.assertEqual(self.report("sum")["result"], 45)
        self.assertIn("45", text_of(self.saw("sum")))

    def test_a_program_calls_a_tool_of_a_server(self):
        self.assertEqual(self.report("upstream")["result"], {"expression": "6 * 7", "value": 42})
        self.assertEqual(self.report("imported")["result"], {"expression": "6", "value": 6})

    def test_many_programs_at_once_are_each_answered_with_their_own(self):
        answers = [one["structuredContent"] for one in self.saw("at once")["answers"]]
        self.assertEqual(answers, [{"status": "ok", "result": n} for n in range(AT_ONCE)])

    def test_what_a_program_prints_comes_back(self):
        self.assertEqual(self.report("printed")["output"], "one\ntwo\n")
        self.assertIn("one\ntwo", text_of(self.saw("printed")))

    def test_the_context_becomes_variables(self):
        self.assertEqual(self.report("context")["result"], [2, ["x", None]])

    def test_programs_of_one_session_share_their_files(self):
        self.report("keep")
        self.assertEqual(self.report("kept")["result"], "kept")
        self.assertEqual(self.report("not kept")["result"], False)

    def test_variables_stay_where_they_are_asked_to(self):
        self.report("remember")
        self.assertEqual(self.report("remembered")["result"], 42)

    def test_files_are_written_read_and_listed_without_a_program(self):
        self.assertFalse(self.saw("written").get("isError"), self.saw("written"))
        self.assertIn("text", text_of(self.saw("read")))
        for path in ("kept.txt", "a/b.txt"):
            self.assertIn(path, text_of(self.saw("listed")))

    def test_a_saved_skill_is_imported_and_found(self):
        self.assertFalse(self.saw("saved").get("isError"), self.saw("saved"))
        self.assertEqual(self.report("skill used")["result"], 42)
        self.assertIn("from skills.doubler import double", text_of(self.saw("skills")))

    def test_what_programs_took_is_told(self):
        self.assertFalse(self.saw("stats").get("isError"), self.saw("stats"))
        self.assertIn("executions", text_of(self.saw("stats")))

    # Programs that fail

    def test_an_exception_comes_with_its_code_line_and_output(self):
        report = self.report("exception", "failed")
        self.assertEqual((report["error"]["code"], report["error"]["line"]), ("GM-1102", 3))
        self.assertEqual(report["output"], "1\n")
        text = text_of(self.saw("exception"))
        for part in ("GM-1102", "line 3", "ValueError", "no such luck"):
            self.assertIn(part, text)

    def test_a_syntax_error_comes_with_its_code_and_line(self):
        error = self.report("syntax error", "failed")["error"]
        self.assertEqual((error["code"], error["line"]), ("GM-1101", 2))
        self.assertIn("GM-1101", text_of(self.saw("syntax error")))

    def test_a_tool_that_fails_is_named_with_what_was_called(self):
        report = self.report("tool error", "failed")
        self.assertEqual((report["error"]["code"], report["error"]["line"]), ("GM-1104", 2))
        self.assertIn("calculator.evaluate", str(report["tools_called"]))

    def test_a_program_past_its_time_is_stopped(self):
        report = self.report("too long", "failed")
        self.assertEqual(report["error"]["code"], "GM-1201")
        self.assertLess(self.saw("too long")["seconds"], 10)

    def test_a_wrong_argument_is_answered_with_the_right_name(self):
        seen = self.saw("wrong argument")
        self.assertTrue(seen["isError"])
        self.assertIn("`code`", text_of(seen))

    def test_an_unknown_tool_is_answered_with_the_nearest_name(self):
        self.assertIn("execute_code", json.dumps(self.seen["unknown tool"]))

    # Finding tools

    def test_tools_are_found_by_what_they_do(self):
        seen = self.saw("found")
        self.assertGreater(seen["structuredContent"]["total"], 0)
        self.assertIn("everything.get_sum(", str(seen["structuredContent"]["found"]))
        self.assertIn("everything.get_sum(", text_of(seen))

    def test_a_search_for_nothing_lists_the_servers(self):
        for server in ("calculator", "files", "everything"):
            self.assertIn(server, text_of(self.saw("servers")))

    def test_a_definition_comes_in_each_format(self):
        for kind, part in (
            ("python", "async def evaluate"),
            ("typescript", "expression: string"),
            ("json", "inputSchema"),
        ):
            with self.subTest(kind):
                self.assertIn("calculator.evaluate", self.saw(kind)["structuredContent"]["definitions"])
                self.assertIn(part, text_of(self.saw(kind)))

    def test_an_unknown_definition_is_answered_with_the_nearest_name(self):
        seen = self.saw("unknown definition")
        self.assertTrue(seen["isError"])
        self.assertIn("evaluate", text_of(seen))

    # Long runs

    def test_a_slow_program_tells_that_it_is_alive(self):
        self.assertEqual(self.report("slow")["result"], "slept")
        told = [one["progress"] for one in self.saw("slow")["progress"]]
        self.assertGreaterEqual(len(told), 2, told)
        self.assertEqual(told, sorted(set(told)), "progress must grow")

    def test_a_cancelled_program_stops(self):
        self.assertNotIn("raised", self.seen["cancelled"])
        self.assertLess(self.report("after cancelling")["result"], STOPPED_SECONDS_MAX)

    def test_a_program_in_the_background_answers_at_once_and_is_followed(self):
        report = self.report("background", "running")
        self.assertTrue(report["id"])
        self.assertLess(self.saw("background")["seconds"], 1.4)
        self.assertEqual(self.report("followed")["result"], "done")
        self.assertEqual(self.report("followed again")["result"], "done")

    def test_a_program_in_the_background_is_stopped(self):
        self.report("endless", "running")
        self.report("still running", "running")
        self.report("stopped", "cancelled")
        self.assertLess(self.report("after stopping")["result"], STOPPED_SECONDS_MAX)

    def test_an_unknown_execution_is_an_error_that_says_so(self):
        seen = self.saw("unknown id")
        self.assertTrue(seen["isError"])
        self.assertIn("nothing-like-it", text_of(seen))

    # Resources, prompts, questions

    def test_resources_of_servers_are_listed_and_read(self):
        uris = [resource["uri"] for resource in self.saw("resources")["resources"]]
        self.assertIn(DOCUMENT, uris)
        contents = self.saw("resource")["contents"]
        self.assertEqual([content["uri"] for content in contents], [DOCUMENT])
        self.assertIn("# Everything Server", contents[0]["text"])

    def test_templates_of_servers_are_listed_and_filled_in(self):
        templates = [one["uriTemplate"] for one in self.saw("templates")["resourceTemplates"]]
        self.assertIn(OURS + "dynamic%2Ftext%2F{resourceId}", templates)
        [content] = self.saw("from a template")["contents"]
        self.assertEqual(content["uri"], OURS + "dynamic%2Ftext%2F7")
        self.assertIn("Resource 7:", content["text"])

    def test_a_resource_that_is_not_there_is_an_error_that_names_it(self):
        seen = self.seen["no resource"]
        # The older era has a code of its own for it.
        self.assertEqual(seen.get("code"), -32002 if self.era == "legacy" else -32602, seen)
        self.assertIn("demo://resource/nothing", seen["raised"])

    def test_prompts_of_servers_are_listed_and_filled_in(self):
        names = [prompt["name"] for prompt in self.saw("prompts")["prompts"]]
        self.assertIn("everything.args-prompt", names)
        message = self.saw("prompt")["messages"][0]
        self.assertEqual(message["content"]["text"], "What's weather in Oslo, Norway?")

    def test_a_question_of_a_server_reaches_the_person_at_the_client(self):
        self.assertIn("Ada Lovelace", self.report("asked")["result"])

    def test_after_all_that_it_still_works(self):
        self.assertEqual(self.report("last")["result"], "still here")


class Older:
    """Clients that begin with the handshake."""

    era, protocol = "legacy", "2025-11-25"


class Newer:
    """Clients that ask what the server speaks."""

    era, protocol = "auto", "2026-07-28"


class Python1OverStdio(EveryClient, Older, Served):
    program, major, transport = "python_client.py", "1", "stdio"


class Python1OverHttp(EveryClient, Older, Served):
    program, major, transport = "python_client.py", "1", "http"


class Python2OverStdio(EveryClient, Newer, Served):
    program, major, transport = "python_client.py", "2", "stdio"


class Python2OverHttp(EveryClient, Newer, Served):
    program, major, transport = "python_client.py", "2", "http"


class TypeScript1OverStdio(EveryClient, Older, Served):
    program, major, transport = "typescript_client.mjs", "1", "stdio"


class TypeScript1OverHttp(EveryClient, Older, Served):
    program, major, transport = "typescript_client.mjs", "1", "http"


class TypeScript2OverStdio(EveryClient, Newer, Served):
    program, major, transport = "typescript_client.mjs", "2", "stdio"


class TypeScript2OverHttp(EveryClient, Newer, Served):
    program, major, transport = "typescript_client.mjs", "2", "http"
