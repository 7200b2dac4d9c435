"""One `gristmill serve` over its pipes, and its only client: many threads, each with one request at a time.

Each request stands for itself, as in the protocol since 2026-07-28, so there is no greeting to wait for.
"""

import json
import subprocess
import threading

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "kill test", "version": "1"},
}

NODE_LOST = "GM-4004"

# More than any answer takes on a busy machine.
ANSWER_SECONDS_MAX = 60


class Ended(Exception):
    """The gateway is gone, and with it the answer."""


class Refused(Exception):
    """An answer that is none of success."""


class NodeLost(Refused):
    """The machine that ran a program is gone, and the program may not run again."""


class Gateway:
    def __init__(self, home):
        self.errors = home.folder / "stderr.log"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [home.gristmill, "serve", "--no-servers", "--profile", "standard", "--timeout", "60s"],
                cwd=home.work,
                env=home.variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self.was_killed = False
        self.lock = threading.Lock()
        self.answers, self.waiting, self.next_id, self.is_open = {}, {}, 1, True
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    # Requests

    def call(self, tool, **arguments):
        """A tool's structured answer."""
        params = {"name": tool, "arguments": arguments, "_meta": META}
        answer = self.request("tools/call", params)
        result = answer.get("result")
        if result is None or result.get("isError"):
            error = (result or {}).get("structuredContent", {}).get("error") or {}
            problem = NodeLost if error.get("code") == NODE_LOST else Refused
            raise problem(f"{tool}: {json.dumps(answer)[:2000]}")
        return result["structuredContent"]

    def request(self, method, params):
        arrived = threading.Event()
        with self.lock:
            if not self.is_open:
                raise Ended
            number, self.next_id = self.next_id, self.next_id + 1
            self.waiting[number] = arrived
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            try:
                self.process.stdin.write(json.dumps(message).encode() + b"\n")
                self.process.stdin.flush()
            except OSError:
                raise Ended from None
        if not arrived.wait(ANSWER_SECONDS_MAX):
            raise Refused(f"no answer within {ANSWER_SECONDS_MAX} s to {json.dumps(message)[:500]}")
        with self.lock:
            if number not in self.answers:
                raise Ended
            return self.answers.pop(number)

    def read(self):
        """Until nothing more comes. What was sent before a kill is heard to its last whole line."""
        for line in self.process.stdout:
            if not line.endswith(b"\n"):
                break
            message = json.loads(line)
            if "method" in message:
                continue
            with self.lock:
                self.answers[message["id"]] = message
                self.waiting.pop(message["id"]).set()
        with self.lock:
            self.is_open = False
            for arrived in self.waiting.values():
                arrived.set()

    # Ends

    def kill(self):
        """kill -9, of the gateway alone."""
        self.was_killed = True
        self.process.kill()

    def has_ended(self):
        return self.process.poll() is not None

    def close(self):
        """As a client does: no more requests will come."""
        self.process.stdin.close()
        code = self.process.wait(ANSWER_SECONDS_MAX)
        self.settle()
        if code != 0:
            raise Refused(f"gristmill serve ended with code {code}: {self.said()}")

    def settle(self):
        """After its end: everything that it said is heard."""
        self.process.wait(ANSWER_SECONDS_MAX)
        self.reader.join(ANSWER_SECONDS_MAX)
        if self.reader.is_alive():
            raise Refused("something still holds the pipe of a gateway that has ended")
        try:
            self.process.stdin.close()
        except OSError:
            # Words that nobody has read.
            pass
        self.process.stdout.close()

    def said(self):
        return self.errors.read_text(errors="replace")[-4000:]
