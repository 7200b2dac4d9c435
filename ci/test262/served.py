"""One `gristmill serve`, over its standard input and output, that runs programs."""

import itertools
import json
import subprocess
import threading

import ran_on
from own_home import OwnHome

VERSION = "2025-11-25"
# A few go through every character there is.
PROGRAM_SECONDS_MAX = 60
ANSWER_SECONDS_MAX = 300
END_SECONDS_MAX = 30

# Who may do what, and what is kept of it, is tested elsewhere.
CONFIG = """
policy = "trusting"
[privacy]
mode = "off"
[audit]
enabled = false
[history]
content = false
[engines]
warm = ["typescript"]
[watch]
enabled = false
"""


# In a cluster the audit says where programs ran.
IN_A_CLUSTER = CONFIG.replace("[audit]\nenabled = false\n", "")
NAME = "gateway-1"


class Trouble(Exception):
    """The tests can't go on."""


class Gateway(OwnHome):
    failure = Trouble

    def __init__(self, gristmill, engine, nodes=None):
        super().__init__(gristmill, engine, "gristmill-test262-")
        config = self.folder / ".config" / "gristmill"
        config.mkdir(parents=True)
        text = CONFIG
        if nodes is not None:
            text = IN_A_CLUSTER + nodes.bus.configuration(NAME, "tls", 'run = "nodes"')
        (config / "gristmill.toml").write_text(text)
        self.numbers, self.waiting, self.lock = itertools.count(1), {}, threading.Lock()
        self.log = (self.folder / "serve.log").open("w+")
        self.process = subprocess.Popen(
            [gristmill, "serve", "--timeout", "60s", "--answer-within", "240"],
            cwd=self.work,
            env=self.variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
        )
        threading.Thread(target=self.read, daemon=True).start()
        client = {"name": "test262", "version": "1"}
        self.ask("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def run(self, code):
        """A program's report."""
        arguments = {"code": code, "language": "javascript", "timeout_s": PROGRAM_SECONDS_MAX}
        answer = self.ask("tools/call", {"name": "execute_code", "arguments": arguments})
        report = answer.get("result", {}).get("structuredContent")
        if report is None:
            raise Trouble(f"no report: {json.dumps(answer)[:1000]}")
        return report

    def ask(self, method, params):
        number = next(self.numbers)
        answered = self.waiting[number] = [threading.Event(), None]
        self.send({"id": number, "method": method, "params": params})
        if not answered[0].wait(ANSWER_SECONDS_MAX) or answered[1] is None:
            raise Trouble(f"gristmill serve doesn't answer: {self.said()}")
        return answered[1]

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        with self.lock:
            self.process.stdin.write(line)
            self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            answered = self.waiting.pop(message.get("id"), None)
            if answered is not None:
                answered[1] = message
                answered[0].set()
        # It has ended: nobody is answered any more.
        for answered in self.waiting.values():
            answered[0].set()

    def said(self):
        self.log.seek(0)
        return self.log.read()[-2000:]

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def audit_events(self):
        """When it has ended."""
        return ran_on.read(self.command("audit", "export"))
