"""Who may call what, as clients that nobody here wrote meet it: rules, a person who is asked, dry runs and
their plans, and data that may not leave the house."""

import json

from every_client import Newer, Older, program
from served import Home, Served, text_of
from world import Installed

POLICY = """
[policy]
preset = "careful"
read_only_sessions = ["looks"]

[[policy.rules]]
name = "no-secrets"
server = "files"
tool = "write_file"
where = { path = "secret*" }
decision = "deny"
reason = "secrets are kept elsewhere"

[[policy.rules]]
name = "plain-files"
server = "files"
tool = "write_file"
where = { path = "plain*" }
decision = "allow"

[[policy.rules]]
name = "thrice"
server = "calculator"
calls_per_execution = 3
"""

WRITE = "from servers.files import write_file\nresult = await write_file(path='{}', text='written')\n"
COUNT = """
from servers.calculator import evaluate
result = []
for n in range(5):
    try:
        await evaluate(expression=str(n))
        result.append("ok")
    except ToolError as error:
        result.append(str(error))
"""

PLANNED = """
from servers.files import list_directory, write_file
seen = await list_directory(path=".")
for name in ("planned-1.txt", "planned-2.txt"):
    await write_file(path=name, text="written")
result = "done"
"""
USE = "from servers.{0} import evaluate\nresult = (await evaluate(expression='6 * 7'))['value']\n"


def steps(home):
    def use(name, server, **arguments):
        return program(name, USE.format(server), arguments={"session": "flows", **arguments})

    plan = {"from": ["dry run", "structuredContent", "dry_run", "plan"]}

    def write(name, path, **arguments):
        return program(name, WRITE.format(path), arguments=arguments)

    return [
        write("denied", "secret.txt"),
        write("allowed", "plain.txt"),
        write("read-only session", "plain-2.txt", session="looks"),
        program("budget", COUNT),
        write("yes, once", "once.txt"),
        write("no", "no.txt"),
        write("yes, for the session", "session-1.txt", session="work"),
        write("not asked again", "session-2.txt", session="work"),
        write("asked in another session", "session-3.txt", session="other"),
        program("dry run", PLANNED, arguments={"dry_run": True}),
        {"name": "plan", "do": "call", "tool": "execute_code", "arguments": {"plan": plan}},
        {"name": "plan again", "do": "call", "tool": "execute_code", "arguments": {"plan": plan}},
        use("untrusted", "web"),
        use("out before", "mail"),
        use("private", "crm"),
        use("out", "mail"),
        use("out from elsewhere", "mail", session="no-flows"),
    ]


class Guarded:
    steps = staticmethod(steps)
    answers = ("once", "no", "session", "no", "once", "no")

    @classmethod
    def make_home(cls):
        home = Home()
        for name, mark in (("web", "untrusted"), ("crm", "private"), ("mail", "external")):
            home.world.add(name, [Installed.gristmill, "example-server", "calculator"], marks=[mark])
        config = home.world.home / ".config" / "gristmill" / "gristmill.toml"
        text = config.read_text()
        assert 'policy = "trusting"\n' in text, text
        config.write_text(text.replace('policy = "trusting"\n', "") + POLICY)
        return home

    def is_written(self, name):
        return (self.home.files / name).exists()

    def assert_refused(self, step, code, path, *words):
        report = self.report(step, "failed")
        self.assertEqual(report["error"]["code"], code, report)
        for word in (code, *words):
            self.assertIn(word, text_of(self.saw(step)))
        self.assertFalse(self.is_written(path), f"{path} must not be there")

    def test_a_rule_refuses_and_says_why(self):
        self.assert_refused("denied", "GM-3301", "secret.txt", "secrets are kept elsewhere", "no-secrets")

    def test_a_rule_allows(self):
        self.report("allowed")
        self.assertTrue(self.is_written("plain.txt"))

    def test_a_session_that_only_reads_does(self):
        self.assert_refused("read-only session", "GM-3301", "plain-2.txt", "read-only")

    def test_a_budget_ends(self):
        told = self.report("budget")["result"]
        self.assertEqual(told[:3], ["ok"] * 3)
        self.assertEqual(len(told), 5)
        for refusal in told[3:]:
            self.assertIn("thrice", refusal)

    def test_a_person_at_the_client_is_asked_and_answers(self):
        self.report("yes, once")
        self.assertTrue(self.is_written("once.txt"))
        self.assert_refused("no", "GM-3302", "no.txt", "didn't allow")
        for name in ("session-1.txt", "session-2.txt"):
            self.assertTrue(self.is_written(name), name)
        self.report("not asked again")
        self.assert_refused("asked in another session", "GM-3302", "session-3.txt")

    def test_the_person_reads_who_wants_what(self):
        asked = self.seen["asked of the person"]
        paths = ("once.txt", "no.txt", "session-1.txt", "session-3.txt")
        self.assertEqual(len(asked), len(self.answers), asked)
        for question, path in zip(asked, paths):
            self.assertIn("files.write_file", question)
            self.assertIn(path, question)

    def test_a_dry_run_writes_nothing_and_lists_what_it_would(self):
        report = self.report("dry run")
        self.assertEqual(report["result"], "done")
        writes = report["dry_run"]["writes"]
        paths = [json.loads(write["arguments"])["path"] for write in writes]
        self.assertEqual(paths, ["planned-1.txt", "planned-2.txt"])
        self.assertIn("planned-2.txt", text_of(self.saw("dry run")))

    def test_a_plan_runs_once_after_one_question_about_all_of_it(self):
        self.assertEqual(self.report("plan")["result"], "done")
        for name in ("planned-1.txt", "planned-2.txt"):
            self.assertTrue(self.is_written(name), name)
            self.assertIn(name, self.seen["asked of the person"][4])
        self.assertEqual(self.report("plan again", "failed")["error"]["code"], "GM-2002")

    def test_what_was_read_here_does_not_leave_unasked(self):
        for step in ("untrusted", "out before", "private", "out from elsewhere"):
            self.assertEqual(self.report(step)["result"], 42, step)
        self.assertEqual(self.report("out", "failed")["error"]["code"], "GM-3302")
        question = self.seen["asked of the person"][5]
        for name in ("`web`", "`crm`", "`mail`"):
            self.assertIn(name, question)


class Python1OverStdio(Guarded, Older, Served):
    program, major, transport = "python_client.py", "1", "stdio"


class Python1OverHttp(Guarded, Older, Served):
    program, major, transport = "python_client.py", "1", "http"


class Python2OverStdio(Guarded, Newer, Served):
    program, major, transport = "python_client.py", "2", "stdio"


class Python2OverHttp(Guarded, Newer, Served):
    program, major, transport = "python_client.py", "2", "http"


class TypeScript1OverHttp(Guarded, Older, Served):
    program, major, transport = "typescript_client.mjs", "1", "http"


class TypeScript2OverStdio(Guarded, Newer, Served):
    program, major, transport = "typescript_client.mjs", "2", "stdio"
