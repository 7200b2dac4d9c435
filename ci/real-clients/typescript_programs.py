"""Programs in TypeScript, as clients of both eras send them."""

from every_client import AT_ONCE, STOPPED_SECONDS_MAX, Newer, Older, program
from served import Home, Served, text_of
from world import Installed

EXAMPLES = ("crm", "database", "documents", "weather")

EVERYWHERE = """
import { listLeads } from "./servers/crm";
import { query } from "./servers/database";
import { searchDocuments } from "./servers/documents";
import { forecast } from "./servers/weather";
import { evaluate } from "./servers/calculator";
import { listDirectory as list } from "./servers/files";
import { echo } from "./servers/everything";
import { createEntities, readGraph } from "./servers/memory";
await createEntities({ entities: [{ name: "Ada", entityType: "person", observations: [] }] });
const [leads, orders, found, weather, six, files, said, graph] = await Promise.all([
  listLeads({ page_size: 1 }), query({ sql: "SELECT count(*) AS n FROM orders" }), searchDocuments({ query: "meeting" }),
  forecast({ city: "Oslo", days: 2 }), evaluate({ expression: "6" }), list({ path: "" }), echo({ message: "x" }), readGraph({}),
]);
export default [leads.records.length, orders.rows[0].n > 0, found.hits.length > 0, weather.days.length, six.value, typeof files, said, graph.entities.length];
"""

SKILL = {
    "name": "tripler",
    "code": "/** Triples a number. */\nexport const triple = (n: number): number => 3 * n;\n",
    "test": {"call": "triple(2)", "expect": 6},
}

COUNTING = """
import { writeFile as write } from "./servers/files";
for (let i = 0; i < 300; i++) {
  await write({ path: "counting.txt", text: String(i) });
  await new Promise((done) => setTimeout(done, 200));
}
"""
# How long it went on after it was taken back: until two looks, three counts apart, see the same.
STILL_COUNTING = """
import { readFile as read } from "./servers/files";
const began = performance.now();
let before: string | null = null;
let now = "";
while (before !== now && performance.now() - began < 10_000) {
  before = now;
  await new Promise((done) => setTimeout(done, 600));
  now = (await read({ path: "counting.txt" })).text;
}
export default (performance.now() - began) / 1000;
"""


class WideHome(Home):
    """With every example server, and two from npm."""

    def __init__(self):
        super().__init__()
        world = self.world
        for name in EXAMPLES:
            world.add(name, [Installed.gristmill, "example-server", name])
        world.add("memory", world.npm("memory"), env=[f"MEMORY_FILE_PATH={world.work}/memory.jsonl"])


def in_typescript(name, code, **more):
    arguments = {"language": "typescript", **more.pop("arguments", {})}
    return program(name, code, arguments=arguments, **more)


def steps(home):
    everything = 'import { getSum, triggerElicitationRequest } from "./servers/everything";\n'
    kept = {"session": "kept", "keep_variables": True}
    call = {"do": "call", "tool": "execute_code"}
    begun = {"from": ["background", "structuredContent", "id"]}
    return [
        {"name": "tools", "do": "list_tools"},
        in_typescript("sum", "Array.from({ length: 10 }, (_, n) => n).reduce((a, b) => a + b)"),
        # Told from its text.
        program("unsaid", "interface Point { x: number }\nconst p: Point = { x: 42 };\nexport default p.x;"),
        in_typescript("javascript", "export default [1, 2].at(-1);", arguments={"language": "javascript"}),
        in_typescript("imported", 'import { evaluate } from "./servers/calculator";\nexport default await evaluate({ expression: "6 * 7" });'),
        in_typescript("hyphenated", f"{everything}return await getSum({{ a: 1, b: 2 }});"),
        # The database fills its tables when it starts.
        in_typescript("everywhere", EVERYWHERE, arguments={"timeout_s": 40}),
        {
            **call,
            "name": "at once",
            "do": "parallel",
            "each": [
                {"language": "typescript", "code": f"await new Promise((done) => setTimeout(done, 100));\nresult = {n};"}
                for n in range(AT_ONCE)
            ],
        },
        in_typescript("printed", "console.log('one', { two: [2] }); console.error('three');"),
        in_typescript("context", "export default [a + 1, b];", arguments={"context": {"a": 1, "b": ["x", None]}}),
        in_typescript("left", "writeFile('left.txt', 'by typescript'); state.n = 41;", arguments={"session": "both"}),
        program("found by Python", "result = [read_file('left.txt'), state['n'] + 1]", arguments={"session": "both"}),
        in_typescript("remember", "const n: number = 41; class Adder { add(m: number) { return n + m; } }", arguments=kept),
        in_typescript("remembered", "export default new Adder().add(1);", arguments=kept),
        {"name": "saved", "do": "call", "tool": "save_skill", "arguments": SKILL},
        in_typescript("skill used", 'import { triple } from "skills/tripler";\nexport default triple(14);'),
        in_typescript("exception", "const x: number = 1;\nconsole.log(x);\nthrow new TypeError('no such luck');"),
        in_typescript("syntax error", "const x: number = 1;\nconst y = (2;\n"),
        in_typescript("tool error", 'import { evaluate } from "./servers/calculator";\nawait evaluate({ expression: "1 +" });'),
        in_typescript("too long", "while (true) {}", arguments={"timeout_s": 1}),
        in_typescript("too deep", "const f = (n: number): number => 1 + f(n);\nf(1);"),
        in_typescript("asked", f"{everything}export default String(await triggerElicitationRequest({{}}));"),
        {
            **call,
            "name": "cancelled",
            "do": "cancel",
            "arguments": {"code": COUNTING, "language": "typescript", "timeout_s": 60},
            "when": str(home.files / "counting.txt"),
        },
        in_typescript("after cancelling", STILL_COUNTING, arguments={"timeout_s": 20}),
        in_typescript("background", "await new Promise((done) => setTimeout(done, 1500));\nexport default 'done';", arguments={"background": True}),
        {"name": "followed", "do": "call", "tool": "get_execution", "arguments": {"id": begun, "wait_s": 20}},
        in_typescript("last", "export default 'still here';"),
    ]


class InTypeScript:
    steps = staticmethod(steps)

    @classmethod
    def make_home(cls):
        return WideHome()

    def test_the_languages_are_offered(self):
        [tool] = [one for one in self.saw("tools")["tools"] if one["name"] == "execute_code"]
        self.assertIn("TypeScript", tool["description"])

    def test_a_program_answers_its_result(self):
        self.assertEqual(self.report("sum")["result"], 45)
        self.assertEqual(self.report("unsaid")["result"], 42)
        self.assertEqual(self.report("javascript")["result"], 2)

    def test_a_program_calls_tools_of_servers(self):
        self.assertEqual(self.report("imported")["result"], {"expression": "6 * 7", "value": 42})
        self.assertEqual(self.report("hyphenated")["result"], "The sum of 1 and 2 is 3.")

    def test_a_program_calls_every_example_server_and_two_from_npm(self):
        expected = [1, True, True, 2, 6, "object", "Echo: x", 1]
        self.assertEqual(self.report("everywhere")["result"], expected)

    def test_many_programs_at_once_are_each_answered_with_their_own(self):
        answers = [one["structuredContent"] for one in self.saw("at once")["answers"]]
        self.assertEqual(answers, [{"status": "ok", "result": n} for n in range(AT_ONCE)])

    def test_what_a_program_prints_comes_back(self):
        self.assertIn("one { two: [ 2 ] }\n", self.report("printed")["output"])

    def test_the_context_becomes_variables(self):
        self.assertEqual(self.report("context")["result"], [2, ["x", None]])

    def test_a_session_mixes_both_languages(self):
        self.report("left")
        self.assertEqual(self.report("found by Python")["result"], ["by typescript", 42])

    def test_variables_and_classes_stay_where_they_are_asked_to(self):
        self.report("remember")
        self.assertEqual(self.report("remembered")["result"], 42)

    def test_a_saved_skill_is_imported(self):
        self.assertFalse(self.saw("saved").get("isError"), self.saw("saved"))
        self.assertEqual(self.report("skill used")["result"], 42)

    def test_what_goes_wrong_comes_with_its_code_and_line(self):
        for step, code, line in (
            ("exception", "GM-1102", 3),
            ("syntax error", "GM-1101", 2),
            ("tool error", "GM-1104", 2),
            ("too deep", "GM-1107", 1),
        ):
            with self.subTest(step):
                error = self.report(step, "failed")["error"]
                self.assertEqual((error["code"], error["line"]), (code, line), error)
        text = text_of(self.saw("exception"))
        for part in ("GM-1102", "line 3", "TypeError", "no such luck"):
            self.assertIn(part, text)

    def test_a_program_past_its_time_is_stopped(self):
        self.assertEqual(self.report("too long", "failed")["error"]["code"], "GM-1201")
        self.assertLess(self.saw("too long")["seconds"], 10)

    def test_a_question_of_a_server_reaches_the_person_at_the_client(self):
        self.assertIn("Ada Lovelace", self.report("asked")["result"])

    def test_a_cancelled_program_stops(self):
        self.assertNotIn("raised", self.seen["cancelled"])
        self.assertLess(self.report("after cancelling")["result"], STOPPED_SECONDS_MAX)

    def test_a_program_in_the_background_is_followed(self):
        self.report("background", "running")
        self.assertEqual(self.report("followed")["result"], "done")

    def test_after_all_that_it_still_works(self):
        self.assertEqual(self.report("last")["result"], "still here")


class Python1(InTypeScript, Older, Served):
    program, major, transport = "python_client.py", "1", "http"


class Python2(InTypeScript, Newer, Served):
    program, major, transport = "python_client.py", "2", "stdio"


class TypeScript1(InTypeScript, Older, Served):
    program, major, transport = "typescript_client.mjs", "1", "stdio"


class TypeScript2(InTypeScript, Newer, Served):
    program, major, transport = "typescript_client.mjs", "2", "http"
