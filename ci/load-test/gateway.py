"""One `gristmill serve --http` with servers and tokens of its own, and what it takes of the machine."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from judge import Sample
from own_home import OwnHome
from programs import CANARY

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "load test", "version": "1"},
}
COMMAND_SECONDS_MAX = 120
ANSWER_SECONDS_MAX = 120
START_SECONDS_MAX = 60
MISBEHAVING = Path(__file__).resolve().parent / "misbehaving_server.py"
HABITS = ("hang", "crash", "flood", "slow")
EXAMPLES = ("calculator", "crm")
# What one program may take; a gateway's default is more.
PROGRAM_BYTES = 128 << 20


class Trouble(Exception):
    """The test itself can't go on."""


class Gateway(OwnHome):
    failure = Trouble
    command_seconds_max = COMMAND_SECONDS_MAX

    def __init__(self, gristmill, engine, callers):
        super().__init__(gristmill, engine, "gristmill-load-")
        config = self.folder / ".config" / "gristmill"
        config.mkdir(parents=True)
        (self.folder / "canary.txt").write_text(CANARY)
        self.variables["LOAD_TEST_CANARY"] = CANARY
        # Who may call what is tested elsewhere.
        (config / "gristmill.toml").write_text('policy = "trusting"\n')
        for name in EXAMPLES:
            self.add(name, [gristmill, "example-server", name])
        for habit in HABITS:
            # One that hangs is given up soon.
            settings = {"limits": {"call": "1s"}} if habit == "hang" else {}
            self.add(habit, [sys.executable, str(MISBEHAVING), habit], **settings)
        self.tokens = [self.token(f"caller-{number}") for number in range(callers)]
        self.log = self.folder / "serve.log"
        self.process, self.port = self.start()

    def add(self, name, command, **settings):
        entry = {"command": command[0], "args": command[1:], **settings}
        self.command("add-json", name, json.dumps(entry))

    def token(self, name):
        return json.loads(self.command("token", "new", name, "--json"))["token"]

    def start(self):
        words = [self.gristmill, "serve", "--http", "127.0.0.1:0", "--profile", "standard", "--memory", "128M"]
        # On a busy machine good programs are slow, and not wrong.
        words += ["--timeout", "30s", "--answer-within", "110"]
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                words, cwd=self.work, env=self.variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until:
            if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)/", self.said()):
                return process, int(found[1])
            if process.poll() is not None:
                break
            time.sleep(0.05)
        process.kill()
        raise Trouble(f"gristmill serve doesn't listen: {self.said()}")

    def said(self):
        return self.log.read_text(errors="replace")[-4000:]

    # The end

    def stop(self):
        """As an administrator does. Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "none within 60 s"

    def remove(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        super().remove()

    # What is there

    def sample(self):
        tree = [self.process.pid, *below(self.process.pid)]
        return Sample(
            gateway_bytes=memory_of(self.process.pid, "VmRSS"),
            all_bytes=sum(shared_out(pid) for pid in tree),
            descriptors=descriptors_of(self.process.pid),
            processes=len(tree) - 1,
        )

    def audit(self):
        events = (json.loads(line) for line in self.command("audit", "export").splitlines())
        return [line["event"] for line in events]


class Client:
    """One caller's connection, made anew when it is lost, and each time `within` what is given."""

    def __init__(
        self, port, token, seconds_max=ANSWER_SECONDS_MAX, address="127.0.0.1", within=contextlib.nullcontext
    ):
        self.port, self.token, self.seconds_max, self.connection = port, token, seconds_max, None
        self.address, self.within = address, within

    def call(self, tool, arguments):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        body["params"] = {"name": tool, "arguments": arguments, "_meta": META}
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.address, self.port, timeout=self.seconds_max)
        try:
            if self.connection.sock is None:
                with self.within():
                    self.connection.connect()
            self.connection.request("POST", "/mcp", json.dumps(body), headers)
            response = self.connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            # The last event is the answer.
            text = [line for line in text.splitlines() if line.startswith("data:") and "{" in line][-1][5:]
        return json.loads(text)

    def hang_up(self, tool, arguments):
        """Asks, and is gone before the answer."""
        timer = threading.Timer(0.3, self.close)
        timer.start()
        try:
            self.call(tool, arguments)
        except (OSError, http.client.HTTPException, AttributeError, ValueError):
            pass
        timer.join()

    def close(self):
        connection, self.connection = self.connection, None
        if connection is not None:
            if connection.sock is not None:
                try:
                    connection.sock.shutdown(2)
                except OSError:
                    pass
            connection.close()


# /proc


def below(pid):
    """Its children, their children, and so on."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def memory_of(pid, name):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def shared_out(pid):
    """Pages that several processes share count in part for each, where the system tells that."""
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return memory_of(pid, "VmRSS")
    return int(found[1]) * 1024 if found else 0


def descriptors_of(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0
