"""A user of their own: a home, a configuration, and servers that nobody here wrote.

Every command that is run has a time limit, and a test that leaves a process behind fails.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from own_home import listed, place

UNRULY = Path(__file__).resolve().parent / "unruly_server.py"

# No command takes nearly as long, unless it hangs.
COMMAND_SECONDS_MAX = 60

# What ends behind a command's back: servers that are given a moment, supervisors that look once a second.
LEFT_BEHIND_SECONDS_MAX = 10


class Installed:
    """What the tests are run with; set once by real_servers.py."""

    gristmill = None
    engine = None
    servers = None


class Done:
    """A command that has ended."""

    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def __repr__(self):
        return f"exit code {self.code} after {self.seconds:.1f} s\n-- out:\n{self.out}\n-- err:\n{self.err}"


class World(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="gristmill-real-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home, self.work = self.folder / "home", self.folder / "work"
        self.cache, self.data = self.folder / "cache", self.folder / "data"
        for folder in (self.home, self.work, self.data, self.cache / "engines"):
            folder.mkdir(parents=True)
        place(Installed.engine, self.cache / "engines" / Installed.engine.name)
        # By way of a link below the world's own folder, so that a server's command line tells whose it is.
        (self.folder / "npm").symlink_to(Installed.servers / "node_modules" / ".bin")
        (self.folder / "python").symlink_to(Installed.servers / "python" / "bin")
        # These servers do as they are told; who may call what is tested elsewhere.
        config = self.home / ".config" / "gristmill"
        config.mkdir(parents=True)
        (config / "gristmill.toml").write_text('policy = "trusting"\n')
        self.variables = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.folder),
            "GRISTMILL_CACHE_DIR": str(self.cache),
            "GRISTMILL_DATA_DIR": str(self.data),
        }

    def tearDown(self):
        if self.wait_for(lambda: not self.processes(), LEFT_BEHIND_SECONDS_MAX):
            return
        left = self.processes()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.fail(f"processes were left behind: {left}")

    # Servers

    def npm(self, name, *arguments):
        """The command of a server from npm."""
        return ["node", str(self.folder / "npm" / f"mcp-server-{name}"), *map(str, arguments)]

    def python(self, name, *arguments):
        """The command of a server from PyPI."""
        return [str(self.folder / "python" / f"mcp-server-{name}"), *map(str, arguments)]

    def everything(self):
        return self.npm("everything", "stdio")

    def unruly(self, habits, command):
        """The same server with bad habits."""
        return [sys.executable, str(UNRULY), *map(str, habits), "--", *command]

    def add(self, name, command, env=(), **settings):
        """As a user adds it; with settings beyond the command, as JSON."""
        if not settings:
            variables = [word for pair in env for word in ("--env", pair)]
            return self.ok("add", name, *variables, "--", *command)
        environment = dict(pair.split("=", 1) for pair in env)
        entry = {"command": command[0], "args": command[1:], "env": environment, **settings}
        return self.ok("add-json", name, json.dumps(entry))

    # Commands

    def gristmill(self, *arguments, seconds=COMMAND_SECONDS_MAX, stdin="", **variables):
        command = [Installed.gristmill, *map(str, arguments)]
        options = {
            "cwd": self.work,
            "env": {**self.variables, **variables},
            "text": True,
            "errors": "replace",
        }
        began = time.monotonic()
        try:
            done = subprocess.run(command, input=stdin, capture_output=True, timeout=seconds, **options)
        except subprocess.TimeoutExpired as error:
            self.fail(
                f"gristmill hung: {arguments} did not end within {seconds} s\n{error.stdout}\n{error.stderr}"
            )
        return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - began)

    def ok(self, *arguments, **options):
        done = self.gristmill(*arguments, **options)
        self.assertEqual(done.code, 0, f"gristmill {arguments}: {done}")
        return done

    def json(self, *arguments, **options):
        return json.loads(self.ok(*arguments, **options).out)

    def program(self, code, *arguments, ending="py", **options):
        """A program's report, whatever became of it; `ending` says its language."""
        path = self.written(code, ending)
        done = self.gristmill("run", "--json", "--timeout", "50s", *arguments, path, **options)
        try:
            return json.loads(done.out)
        except ValueError:
            self.fail(f"no report: {done}")

    def result(self, code, *arguments, **options):
        """What a program came to, which must have gone well."""
        report = self.program(code, *arguments, **options)
        self.assertTrue(report["success"], json.dumps(report, indent=1))
        return report["result"]

    def same_result(self, python, typescript, *arguments):
        """What the same job comes to in both languages, which must be the same."""
        expected = self.result(python, *arguments)
        self.assertEqual(self.result(typescript, *arguments, ending="ts"), expected)
        return expected

    def written(self, code, ending="py"):
        """A file of its own for each program: several may be read at once."""
        path = self.folder / f"program-{len(list(self.folder.glob('program-*')))}.{ending}"
        path.write_text(code)
        return path

    def begin(self, code, *arguments):
        """A program that is still running, its workspace a folder that both sides see."""
        workspace = self.work / "workspace"
        workspace.mkdir(exist_ok=True)
        words = ["run", "--timeout", "50s", "--workspace", workspace, *arguments, self.written(code)]
        return Running(self, [Installed.gristmill, *map(str, words)], workspace)

    # Processes

    def processes(self, part=""):
        """What runs with this world's folder in its command line or environment: {pid: command line}."""
        return {pid: line for pid, line, where in listed() if str(self.folder) in where and part in line}

    def server_pid(self, part):
        """The one server with this in its command line, not its supervisor."""
        found = [pid for pid, line in self.processes(part).items() if "supervisor" not in line]
        self.assertEqual(len(found), 1, self.processes())
        return found[0]

    def wait_for(self, condition, seconds):
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True


class Running:
    """A program under way."""

    def __init__(self, world, command, workspace):
        self.world, self.workspace = world, workspace
        options = {"cwd": world.work, "env": world.variables, "text": True, "errors": "replace"}
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, **pipes, **options)
        world.addCleanup(self.kill)

    def wait_for_file(self, name):
        """Until the program has written this into its workspace."""
        there = self.world.wait_for(
            lambda: (self.workspace / name).exists() or self.is_over(), COMMAND_SECONDS_MAX
        )
        if not there or not (self.workspace / name).exists():
            self.kill()
            self.world.fail(f"{name} never came: {self.process.communicate(timeout=5)}")

    def is_over(self):
        return self.process.poll() is not None

    def tell(self, name):
        (self.workspace / name).touch()

    def end(self):
        try:
            out, err = self.process.communicate(timeout=COMMAND_SECONDS_MAX)
        except subprocess.TimeoutExpired as error:
            self.kill()
            self.world.fail(f"gristmill hung: {error.stdout}\n{error.stderr}")
        return Done(self.process.returncode, out, err, time.monotonic() - self.began)

    def kill(self):
        if not self.is_over():
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
