"""One `gristmill serve` in a home of its own, and one client that nobody here wrote.

The client does all its steps in one run and tells what it saw; the tests look at that. Every process
has a time limit, is ended with its whole group, and one that is left behind fails the class.
"""

import json
import os
import re
import signal
import subprocess
import time
import unittest
from collections import Counter
from pathlib import Path

import ran_on
from world import Installed, World

HERE = Path(__file__).resolve().parent

# All steps of one client; the slowest takes some ten seconds, unless something hangs.
CLIENT_SECONDS_MAX = 150
LISTENING_SECONDS_MAX = 30
# A server that nobody uses any more lets running programs end; none runs here.
SHUTDOWN_SECONDS_MAX = 15

# As a cluster knows whichever gateway runs at the moment.
GATEWAY = "gateway-1"

LISTENING = re.compile(r"listening on (http://[\w.]+:\d+/mcp)\b")


class Clients:
    """Where the clients are; set once by real_clients.py."""

    node = None
    npm = None
    python = {}
    seconds = {}
    # Where programs run; in the gateway, if there are none.
    nodes = None
    # How many programs ended well on each, and without a name in the gateway.
    ran_on = Counter()
    # Whoever makes two gateways of each server over HTTP; there is one, if nobody does.
    pairs = None


class Home:
    """A user with three servers: two of our examples and one from npm."""

    def __init__(self):
        self.world = World()
        self.world.setUp()
        if Clients.nodes is not None:
            config = self.world.home / ".config" / "gristmill" / "gristmill.toml"
            table = Clients.nodes.bus.configuration(GATEWAY, "tls", 'run = "nodes"')
            config.write_text(f"{config.read_text()}\n{table}")
        self.files = self.world.work / "files"
        self.files.mkdir()
        gristmill = Installed.gristmill
        self.world.add("calculator", [gristmill, "example-server", "calculator"])
        self.world.add("files", [gristmill, "example-server", "filesystem", "--root", str(self.files)])
        self.world.add("everything", self.world.everything())
        self.server = None
        # What its client does, once that is known.
        self.steps = []

    def serve_over_http(self, *flags):
        if Clients.pairs is None:
            self.server = HttpServer(self.world, flags)
        else:
            self.server = Clients.pairs.serve(self.world, flags)
        return self.server.url

    def headers(self):
        """What the local owner's client sends with every request."""
        token = (self.server.data / "local-token").read_text().strip()
        return {"Authorization": f"Bearer {token}"}

    def close(self):
        """Ends the server; whatever then still runs is a failure."""
        try:
            if self.server is not None:
                self.server.end()
            self.world.tearDown()
            self.check_where_programs_ran()
        finally:
            if self.server is not None:
                self.server.kill()
            self.world.doCleanups()

    def check_where_programs_ran(self):
        if Clients.nodes is None:
            return
        events = ran_on.read(self.world.ok("audit", "export").out)
        Clients.ran_on += ran_on.on_each(events)
        sessions = self.world.json("sessions", "list", "--json")
        names = sessions_that_keep_variables(self.steps)
        keeping = {one["id"] for one in sessions if one["name"] in names}
        skill_tests = sum(one.get("tool") == "save_skill" and "test" in one["arguments"] for one in self.steps)
        if problems := ran_on.judge_gateway(events, keeping, skill_tests):
            raise AssertionError("; ".join(problems))


class HttpServer:
    """Of several in one world, each has a name, and variables of its own."""

    def __init__(self, world, flags, name="serve", **variables):
        self.name, self.log = name, world.folder / f"{name}.log"
        environment = {**world.variables, **variables}
        self.data = Path(environment["GRISTMILL_DATA_DIR"])
        words = [Installed.gristmill, "serve", "--http", "127.0.0.1:0", *flags]
        with self.log.open("wb") as log:
            pipes = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            self.process = subprocess.Popen(words, cwd=world.work, env=environment, start_new_session=True, **pipes)
        spoke = lambda: self.said_url() or self.process.poll() is not None
        there = world.wait_for(spoke, LISTENING_SECONDS_MAX)
        self.url = self.said_url()
        if not there or self.url is None:
            self.kill()
            raise AssertionError(f"gristmill serve does not listen: {self.log.read_text()}")

    def said_url(self):
        found = LISTENING.search(self.log.read_text())
        return found and found[1]

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(SHUTDOWN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"gristmill serve does not end: {self.log.read_text()}") from None
        if code != 0:
            raise AssertionError(f"gristmill serve ended with code {code}: {self.log.read_text()}")

    def kill(self):
        end_group(self.process)


class Served(unittest.TestCase):
    """What one client saw over one transport; `seen` has an entry for each step."""

    maxDiff = None
    # Set by each class: python_client.py or typescript_client.mjs, its major version, and the rest.
    program, major, era, protocol, transport = None, None, None, None, None
    # Options of `gristmill serve`: the steps use more tools than the default shows.
    flags = ("--profile", "standard")
    # What the person at the client says to the questions of the policy's, in their order; then no.
    answers = ()

    @classmethod
    def setUpClass(cls):
        began = time.monotonic()
        cls.home = cls.make_home()
        cls.addClassCleanup(cls.home.world.doCleanups)
        try:
            cls.seen = cls.run_client()
        except BaseException:
            cls.home.close()
            raise
        Clients.seconds[cls.__name__] = time.monotonic() - began

    @classmethod
    def tearDownClass(cls):
        cls.home.close()

    @classmethod
    def make_home(cls):
        return Home()

    @classmethod
    def run_client(cls):
        world = cls.home.world
        cls.home.steps = cls.steps(cls.home)
        job = {
            "era": cls.era,
            "elicited": {"name": "Ada Lovelace"},
            "answers": cls.answers,
            "cwd": str(world.work),
            "env": world.variables,
            "steps": cls.home.steps,
        }
        if cls.transport == "http":
            job["url"] = cls.home.serve_over_http(*cls.flags)
            job["headers"] = cls.home.headers()
        else:
            job["command"] = [Installed.gristmill, "serve", *cls.flags]
        path = world.folder / "job.json"
        path.write_text(json.dumps(job))
        done = run_bounded(cls.client_command(path), world)
        if done.returncode != 0:
            raise AssertionError(f"the client failed: {done.stderr}\n{done.stdout}")
        seen = json.loads(done.stdout.splitlines()[-1])
        if os.environ.get("REAL_CLIENTS_SHOW"):
            print(json.dumps(seen, indent=1), flush=True)
        return seen

    @classmethod
    def client_command(cls, job):
        if cls.program == "python_client.py":
            return [str(Clients.python[cls.major]), str(HERE / cls.program), str(job)]
        return [Clients.node, str(HERE / cls.program), cls.major, str(Clients.npm), str(job)]

    def saw(self, step):
        """What a step saw, which must not have raised."""
        seen = self.seen[step]
        self.assertNotIn("raised", seen, f"{step}: {seen}")
        return seen

    def report(self, step, status="ok"):
        """A program's report, as the structured content has it."""
        seen = self.saw(step)
        report = seen.get("structuredContent")
        self.assertIsNotNone(report, seen)
        self.assertEqual(report["status"], status, seen)
        self.assertEqual(bool(seen.get("isError")), status in ("failed", "cancelled"), seen)
        return report


def sessions_that_keep_variables(steps):
    programs = [step["arguments"] for step in steps if step.get("tool") == "execute_code" and "arguments" in step]
    return {arguments["session"] for arguments in programs if arguments.get("keep_variables")}


def text_of(seen):
    """The text that a client without structured content shows."""
    return "\n".join(part["text"] for part in seen["content"] if part["type"] == "text")


def run_bounded(command, world, seconds=CLIENT_SECONDS_MAX, **variables):
    """Runs a client to its end, or ends it with everything that it has started."""
    options = {"cwd": world.work, "env": {**world.variables, **variables}, "text": True, "errors": "replace"}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(list(map(str, command)), start_new_session=True, **pipes, **options)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        end_group(process)
        out, err = process.communicate(timeout=5)
        raise AssertionError(f"{command} did not end within {seconds} s\n{out}\n{err}") from None
    # Its group is left alone: what it leaves behind is for the world to find.
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
