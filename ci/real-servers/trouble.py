"""Servers that die, hang, flood and babble: the program goes on, and so does gristmill."""

import json
import os
import signal
import textwrap

from world import World

# A call under way on the server: the answer to the one behind it says that it has arrived.
UNDER_WAY = """
import asyncio, os
from servers.everything import echo, trigger_long_running_operation
long = asyncio.ensure_future(trigger_long_running_operation(duration=40, steps=4))
await echo(message="behind it")
open("/workspace/under-way", "w").close()
"""

# A server that is up, and a program that waits until something was done to it.
UP_AND_WAIT = """
import asyncio, os
from servers.everything import echo
await echo(message="x")
open("/workspace/up", "w").close()
while not os.path.exists("/workspace/go"):
    await asyncio.sleep(0.02)
"""


class Killed(World):
    def test_the_call_in_flight_is_told_so_and_the_next_one_works(self):
        self.add("everything", self.everything())
        code = """
try:
    said = [await long]
except ToolError as error:
    said = [error.code, error.retry_safe, str(error)]
said.append(await echo(message="again"))
import json
print(json.dumps(said))
"""
        running = self.begin(UNDER_WAY + code)
        running.wait_for_file("under-way")
        os.kill(self.server_pid("mcp-server-everything"), signal.SIGKILL)
        done = running.end()
        self.assertEqual(done.code, 0, done)
        code, retry_safe, message, again = json.loads(done.out)
        # Its server says that it changes nothing.
        self.assertEqual((code, retry_safe, again), ("GM-3003", True, "Echo: again"))
        self.assertIn("the connection to `everything` was lost during trigger-long-running-operation", message)
        self.assertIn("signal 9", message)
        self.assertLess(done.seconds, 15)

    def test_a_server_killed_while_idle_is_started_again_unnoticed(self):
        self.add("everything", self.everything())
        running = self.begin(UP_AND_WAIT + "print(await echo(message='again'))")
        running.wait_for_file("up")
        pid = self.server_pid("mcp-server-everything")
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(self.wait_for(lambda: pid not in self.processes(), 5))
        running.tell("go")
        done = running.end()
        self.assertEqual((done.code, done.out), (0, "Echo: again\n"), done)

    def test_the_supervisors_death_is_the_servers_too(self):
        self.add("everything", self.everything())
        code = """
try:
    said = await long
except ToolError as error:
    said = error.code
print(said, await echo(message="again"))
"""
        running = self.begin(UNDER_WAY + code)
        running.wait_for_file("under-way")
        server = self.server_pid("mcp-server-everything")
        supervisors = [pid for pid, line in self.processes("mcp-server-everything").items() if "supervisor" in line]
        self.assertEqual(len(supervisors), 1)
        os.kill(supervisors[0], signal.SIGKILL)
        self.assertTrue(
            self.wait_for(lambda: server not in self.processes(), 5), "the server outlived its supervisor"
        )
        done = running.end()
        self.assertEqual((done.code, done.out), (0, "GM-3003 Echo: again\n"), done)

    def test_a_server_that_dies_at_once_is_down_with_its_last_words(self):
        self.add("files", self.npm("filesystem", self.work / "not-there"))
        done = self.gristmill("list", "--json")
        self.assertEqual(done.code, 1, done)
        (row,) = json.loads(done.out)
        self.assertEqual(row["state"], "down")
        self.assertIn("exited with code 1", row["remarks"][0])
        self.assertTrue(row["log"])
        report = self.program("await callMCPTool('files.read_file', {'path': 'x'})")
        self.assertEqual(report["error"]["code"], "GM-3001")


class Hung(World):
    def stopped(self, code, **limits):
        """A program with `code` behind the moment in which its server was stopped."""
        self.add("everything", self.everything(), limits={"call": "2s", **limits})
        self.add("memory", self.npm("memory"), env=[f"MEMORY_FILE_PATH={self.work}/memory.jsonl"])
        running = self.begin(UP_AND_WAIT + code)
        running.wait_for_file("up")
        pid = self.server_pid("mcp-server-everything")
        os.kill(pid, signal.SIGSTOP)
        running.tell("go")
        return running, pid

    def test_a_call_times_out_and_the_program_goes_on(self):
        code = """
from servers.memory import read_graph
try:
    said = await echo(message="anyone?")
except ToolError as error:
    said = [error.code, error.retry_safe, str(error)]
print(said)
print(await read_graph())
"""
        running, _ = self.stopped(code)
        done = running.end()
        self.assertEqual(done.code, 0, done)
        first, second = done.out.splitlines()
        self.assertTrue(first.startswith("['GM-3002', "), done)
        self.assertIn("everything.echo didn't answer within 2 s", first)
        self.assertEqual(second, "{'entities': [], 'relations': []}")
        self.assertLess(done.seconds, 20)

    def test_a_server_that_goes_on_is_used_again(self):
        code = """
try:
    said = await echo(message="anyone?")
except ToolError as error:
    said = error.code
open("/workspace/timed-out", "w").close()
while not os.path.exists("/workspace/resumed"):
    await asyncio.sleep(0.02)
print(said, await echo(message="again"))
"""
        running, pid = self.stopped(code)
        running.wait_for_file("timed-out")
        os.kill(pid, signal.SIGCONT)
        running.tell("resumed")
        done = running.end()
        self.assertEqual((done.code, done.out), (0, "GM-3002 Echo: again\n"), done)

    def test_many_calls_that_nobody_reads_time_out_and_the_program_ends(self):
        code = """
calls = [echo(message="x" * 30_000) for _ in range(40)]
outcomes = await asyncio.gather(*calls, return_exceptions=True)
print(sorted({outcome.code for outcome in outcomes}))
"""
        running, _ = self.stopped(code)
        done = running.end()
        self.assertEqual(done.code, 0, done)
        self.assertLess(done.seconds, 30)

    def test_a_full_pipe_does_not_keep_gristmill_from_ending(self):
        # Each request fits into the pipe, the word that nobody waits for it any more does not.
        code = """
codes = []
for size in (65_300, 10):
    try:
        await echo(message="x" * size)
    except ToolError as error:
        codes.append(error.code)
print(codes)
"""
        running, _ = self.stopped(code)
        done = running.end()
        self.assertEqual(done.code, 0, done)
        self.assertLess(done.seconds, 20)

    def test_after_a_full_pipe_a_server_that_goes_on_is_used_again(self):
        code = """
codes = []
for size in (65_300, 40_000, 10):
    try:
        await echo(message="x" * size)
    except ToolError as error:
        codes.append(error.code)
open("/workspace/timed-out", "w").close()
while not os.path.exists("/workspace/resumed"):
    await asyncio.sleep(0.02)
for _ in range(5):
    try:
        codes.append(await echo(message="again"))
        break
    except ToolError as error:
        codes.append(str(error))
print(codes[-1], codes)
"""
        running, pid = self.stopped(code)
        running.wait_for_file("timed-out")
        os.kill(pid, signal.SIGCONT)
        running.tell("resumed")
        done = running.end()
        self.assertEqual(done.code, 0, done)
        self.assertTrue(done.out.startswith("Echo: again "), done)

    def test_a_server_that_never_answers_is_down_after_its_start_up_time(self):
        self.add("silent", self.unruly(["silent=/"], self.everything()), limits={"startup": "3s"})
        self.add("everything", self.everything())
        done = self.gristmill("list", "--json", seconds=20)
        states = {row["name"]: row["state"] for row in json.loads(done.out)}
        self.assertEqual(states, {"everything": "up", "silent": "down"})
        report = self.program(
            "from servers.everything import echo\nresult = await echo(message='x')", seconds=20
        )
        self.assertEqual(report["result"], "Echo: x")

    def test_a_server_that_hangs_at_its_start_delays_nobody_who_does_not_call_it(self):
        flag = self.folder / "silent"
        self.add("everything", self.unruly([f"silent={flag}"], self.everything()))
        self.ok("tools", "list")
        flag.touch()
        self.assertIn("get_sum(", self.ok("tools", "search", "sum", seconds=10).out)
        code = "result = [1 + 1, 'get-sum' in str(search_tools('sum')).replace('_', '-')]"
        self.assertEqual(self.result(code, seconds=10), [2, True])

    def test_a_server_that_hangs_at_its_start_takes_its_own_time_and_not_the_programs(self):
        flag = self.folder / "silent"
        self.add("everything", self.unruly([f"silent={flag}"], self.everything()), limits={"startup": "6s"})
        self.ok("tools", "list")
        flag.touch()
        code = """
        try:
            await callMCPTool('everything.echo', {'message': 'x'})
        except ToolError as error:
            result = str(error)
        """
        done = self.gristmill("run", "--timeout", "2s", "-c", textwrap.dedent(code), seconds=40)
        self.assertIn("it didn't start within 6 s", done.out)
        self.assertLess(done.seconds, 15)

    def test_a_server_that_ignores_every_hint_to_end_is_ended(self):
        self.add("stubborn", self.unruly(["stubborn"], self.everything()))
        done = self.ok("tools", "call", "stubborn.echo", "message=x", seconds=30)
        self.assertEqual(done.out, "Echo: x\n")
        self.assertLess(done.seconds, 12)


class Noisy(World):
    MANY = """
    import asyncio
    from servers.everything import echo
    answers = await asyncio.gather(*(echo(message=str(i)) for i in range(50)))
    result = answers == [f"Echo: {i}" for i in range(50)]
    """

    def logs(self):
        return {path.name: path.stat().st_size for path in (self.cache / "logs").iterdir()}

    def test_garbage_between_messages_is_passed_over(self):
        self.add("everything", self.unruly(["garbage"], self.everything()))
        self.assertIs(self.result(self.MANY), True)
        self.assertEqual(self.json("list", "--json")[0]["state"], "up")
        for name, size in self.logs().items():
            self.assertLess(size, 1_100_000, name)

    def test_a_flood_of_errors_neither_blocks_nor_fills_the_disk(self):
        self.add("everything", self.unruly(["flood"], self.everything()))
        self.assertIs(self.result(self.MANY), True)
        logs = self.logs()
        self.assertLess(sum(logs.values()), 2_300_000, logs)

    def test_what_a_server_logs_cannot_paint_on_the_terminal(self):
        self.add(
            "everything", self.unruly(["garbage", "silent=/"], self.everything()), limits={"startup": "2s"}
        )
        done = self.gristmill("list")
        self.assertNotIn("\x1b", done.out + done.err)
        self.assertIn("down", done.out)

    def test_an_answer_over_the_limit_is_refused_and_the_next_one_comes(self):
        self.add("everything", self.everything(), limits={"result_size": "1M"})
        code = """
        from servers.everything import echo
        try:
            said = await echo(message="x" * 2_000_000)
        except ToolError as error:
            said = [error.code, str(error)]
        result = [said, await echo(message="small")]
        """
        (code, message), small = self.result(code)
        self.assertEqual((code, small), ("GM-3007", "Echo: small"))
        self.assertIn("limits.result_size", message)

    def test_calls_over_the_rate_are_refused_by_us(self):
        self.add("everything", self.everything(), limits={"calls_per_minute": 3})
        code = """
        from servers.everything import echo
        said = []
        for i in range(4):
            try:
                said.append(await echo(message=str(i)))
            except ToolError as error:
                said.append([error.code, error.retry_safe])
        result = said
        """
        self.assertEqual(self.result(code), ["Echo: 0", "Echo: 1", "Echo: 2", ["GM-3006", True]])
