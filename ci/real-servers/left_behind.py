"""Nothing of a server outlives gristmill. Each test of World ends by looking for what was left."""

import os
import signal

from trouble import UNDER_WAY
from world import World

MINUTE = "\nawait long\n"


class Ended(World):
    def setUp(self):
        super().setUp()
        self.add("everything", self.everything())

    def under_way(self):
        running = self.begin(UNDER_WAY + MINUTE)
        running.wait_for_file("under-way")
        self.assertTrue(self.processes("mcp-server-everything"))
        return running

    def assert_nothing_is_left(self):
        self.assertTrue(self.wait_for(lambda: not self.processes(), 8), self.processes())

    def test_after_kill_9_in_the_middle_of_a_call(self):
        running = self.under_way()
        running.process.kill()
        running.process.wait()
        self.assert_nothing_is_left()

    def test_after_kill_9_with_the_server_stopped(self):
        running = self.under_way()
        os.kill(self.server_pid("mcp-server-everything"), signal.SIGSTOP)
        running.process.kill()
        running.process.wait()
        self.assert_nothing_is_left()

    def test_after_ctrl_c_and_after_terminate(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(sent.name):
                running = self.under_way()
                (running.workspace / "under-way").unlink()
                running.process.send_signal(sent)
                done = running.end()
                self.assertNotEqual(done.code, 0)
                self.assertLess(done.seconds, 30)
                self.assert_nothing_is_left()

    def test_after_the_programs_time_is_up(self):
        done = self.gristmill(
            "run", "--timeout", "3s", "-c", UNDER_WAY.replace("/workspace/", "/tmp/") + MINUTE
        )
        self.assertEqual(done.code, 3, done)
        self.assertIn("GM-1201", done.err)
        self.assert_nothing_is_left()

    def test_after_kill_9_of_a_server_and_of_gristmill(self):
        running = self.under_way()
        os.kill(self.server_pid("mcp-server-everything"), signal.SIGKILL)
        running.process.kill()
        running.process.wait()
        self.assert_nothing_is_left()


class Escaped(World):
    def test_what_a_server_started_in_a_session_of_its_own_is_ended_too(self):
        word = self.folder / "escaped"
        self.add("everything", self.unruly([f"escape={word}"], self.everything()))
        self.ok("tools", "call", "everything.echo", "message=x")
        self.assertTrue(self.wait_for(lambda: not self.processes(), 5), self.processes())

    def test_also_after_kill_9(self):
        word = self.folder / "escaped"
        self.add("everything", self.unruly([f"escape={word}"], self.everything()))
        running = self.begin(UNDER_WAY + MINUTE)
        running.wait_for_file("under-way")
        self.assertTrue(self.processes("time.sleep(600)"))
        running.process.kill()
        running.process.wait()
        self.assertTrue(self.wait_for(lambda: not self.processes(), 8), self.processes())

    def test_a_stubborn_server_is_ended_after_kill_9(self):
        self.add("everything", self.unruly(["stubborn"], self.everything()))
        running = self.begin(UNDER_WAY + MINUTE)
        running.wait_for_file("under-way")
        running.process.kill()
        running.process.wait()
        self.assertTrue(self.wait_for(lambda: not self.processes(), 8), self.processes())
