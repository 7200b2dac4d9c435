"""Servers that change their tools after they were approved."""

import json

from world import World

CALL = "from servers.everything import echo\nresult = await echo(message='x')"
BY_NAME = "result = await callMCPTool('everything.echo', {'message': 'x'})"


class Reworded(World):
    def setUp(self):
        super().setUp()
        self.flag = self.folder / "changed"
        self.habits = [f"reword={self.flag}", f"extra={self.flag}", f"notify={self.flag}"]

    def add_everything(self, accept="additions", **settings):
        self.add("everything", self.unruly(self.habits, self.everything()), accept=accept, **settings)

    def held_back(self, server="everything"):
        done = self.gristmill("tools", "review", "--json", server)
        waiting = json.loads(done.out)
        # A script hears of it without reading.
        self.assertEqual(done.code, 1 if waiting else 0, done)
        return [(tool["tool"], tool["kind"]) for tool in waiting]

    def test_a_changed_tool_is_held_back_until_it_is_approved(self):
        self.add_everything()
        self.assertEqual(self.result(CALL), "Echo: x")
        self.assertEqual(self.ok("tools", "review").out, "no changes: everything is as you approved it\n")
        self.flag.touch()
        # The first to notice, with the old definition in hand, is not let through either.
        for code in (BY_NAME, BY_NAME):
            report = self.program(code)
            self.assertEqual((report["error"] or {}).get("code"), "GM-3005", json.dumps(report, indent=1))
            self.assertIn("gristmill tools review", report["error"]["message"])
        done = self.gristmill("tools", "call", "everything.echo", "message=x")
        self.assertEqual(done.code, 1)
        self.assertIn("error[GM-3005]: everything.echo has changed", done.err)
        (row,) = json.loads(self.gristmill("list", "--json").out)
        # One tool waits; the new one was let in.
        self.assertEqual((row["state"], row["tools"], row["waiting"]), ("up", 13, 1))
        self.assertIn("gristmill tools review everything", row["remarks"][0])
        self.assertEqual(
            self.result("result = await callMCPTool('get-sum', {'a': 1, 'b': 2})"), "The sum of 1 and 2 is 3."
        )

        shown = self.gristmill("tools", "review", "everything").out
        self.assertIn("everything.echo changed:", shown)
        self.assertIn("Echoes back the input string", shown)
        self.assertIn("Sends the message to everyone", shown)
        self.assertEqual(self.held_back(), [("echo", "changed")])
        asked = self.gristmill("tools", "review", "everything", "--approve")
        self.assertIn("--yes", asked.err)
        self.assertEqual(self.held_back(), [("echo", "changed")])

        approved = self.ok("tools", "review", "everything", "--approve", "--yes")
        self.assertIn("approved: echo", approved.err)
        self.assertEqual(self.result(CALL), "Echo: x")
        self.assertIn("Sends the message to everyone", self.ok("tools", "show", "echo").out)
        self.assertEqual(self.held_back(), [])

        # Back to what it was is a change like any other.
        self.flag.unlink()
        self.assertEqual(self.program(BY_NAME)["error"]["code"], "GM-3005")

    def test_an_import_of_a_tool_that_is_held_back_says_so(self):
        self.add_everything()
        self.result(CALL)
        self.flag.touch()
        self.assertEqual(self.held_back(), [("echo", "changed")])
        error = self.program(CALL)["error"]
        self.assertIn("gristmill tools review", json.dumps(error), error)

    def test_a_new_tool_is_let_in_by_itself(self):
        self.habits = [f"extra={self.flag}"]
        self.add_everything()
        self.assertEqual(len(self.json("tools", "list", "--json")), 13)
        self.flag.touch()
        self.ok("list")
        names = [tool["name"] for tool in self.json("tools", "list", "--json")]
        self.assertEqual((len(names), "extra" in names), (14, True))
        self.assertEqual(self.held_back(), [])

    def test_a_new_tool_waits_where_nothing_is_accepted(self):
        self.habits = [f"extra={self.flag}"]
        self.add_everything(accept="nothing")
        first = self.held_back()
        self.ok("tools", "review", "--approve", "--yes")
        self.assertEqual(self.held_back(), [], first)
        self.flag.touch()
        self.assertEqual(self.held_back(), [("extra", "added")])
        report = self.program("await callMCPTool('everything.extra', {})")
        self.assertEqual(report["error"]["code"], "GM-3005")
        self.assertEqual(len(self.json("tools", "list", "--json")), 13)
        self.ok("tools", "review", "everything", "--approve", "--tool", "extra", "--yes")
        self.assertEqual(len(self.json("tools", "list", "--json")), 14)

    def test_a_changed_tool_is_used_at_once_where_everything_is_accepted(self):
        self.add_everything(accept="everything")
        self.assertEqual(self.result(CALL), "Echo: x")
        self.flag.touch()
        self.ok("list")
        self.assertEqual(self.result(CALL), "Echo: x")
        self.assertIn("Sends the message to everyone", self.ok("tools", "show", "echo").out)

    def test_a_change_in_the_middle_of_a_program_is_noticed(self):
        self.add_everything()
        code = """
from servers.everything import echo, get_sum
import asyncio
said = [await echo(message="before")]
open("/workspace/before", "w").close()
for _ in range(500):
    try:
        await echo(message="meanwhile")
    except ToolError as error:
        said.append(error.code)
        break
    await asyncio.sleep(0.02)
said.append(await get_sum(a=1, b=1))
print(said)
"""
        running = self.begin(code)
        running.wait_for_file("before")
        self.flag.touch()
        done = running.end()
        self.assertEqual(done.out, "['Echo: before', 'GM-3005', 'The sum of 1 and 1 is 2.']\n", done)
