"""`gristmill serve` over stdio and over HTTP on one data folder, and everything that its clients hear of it."""

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from own_home import OwnHome

VERSION, OLDER_VERSION = "2026-07-28", "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "privacy test", "version": "1"},
}
SERVER = Path(__file__).resolve().parent / "people_server.py"
ANSWER_SECONDS_MAX = 60
START_SECONDS_MAX = 60
GONE_SECONDS_MAX = 15
SERVE = ("--profile", "full", "--timeout", "20s")


class Trouble(Exception):
    """The test itself can't go on."""


class Ended(Exception):
    """The gateway is gone, and with it the answer."""


class PeopleHome(OwnHome):
    failure = Trouble

    def __init__(self, gristmill, engine, mode, seed):
        super().__init__(gristmill, engine, "gristmill-privacy-")
        self.heard = self.folder / "heard"
        self.heard.mkdir()
        self.arrived = self.folder / "arrived.jsonl"
        self.arrived.touch()
        config = self.folder / ".config" / "gristmill"
        config.mkdir(parents=True)
        servers = {"people": [seed], "mail": [seed, self.arrived]}
        lines = ['policy = "trusting"', "[privacy]", f'mode = "{mode}"']
        lines += ["[[privacy.restore]]", 'to = "mail.deliver"', "allow = true"]
        for name, arguments in servers.items():
            words = [str(word) for word in (SERVER, name, *arguments)]
            lines += [f"[servers.{name}]", f"command = {json.dumps(sys.executable)}", f"args = {json.dumps(words)}"]
        (config / "gristmill.toml").write_text("\n".join(lines) + "\n")

    def token(self, name):
        # Skills are saved by administrators only.
        scopes = ["--scope", "execute", "--scope", "admin"]
        return json.loads(self.command("token", "new", name, *scopes, "--json"))["token"]

    def wait_until_gone(self):
        until = time.monotonic() + GONE_SECONDS_MAX
        while left := self.processes():
            if time.monotonic() > until:
                raise Trouble(f"processes outlived their gateway by {GONE_SECONDS_MAX} s: {left}")
            time.sleep(0.05)


class Gateway:
    """What both transports share: a process, a log, and an end."""

    def launch(self, home, number, words, **pipes):
        self.home, self.number = home, number
        self.log = home.heard / f"stderr-{self.transport}-{number}"
        self.transcript = (home.heard / f"client-{self.transport}-{number}").open("wb")
        self.writing = threading.Lock()
        with self.log.open("wb") as log:
            command = [home.gristmill, "serve", *SERVE, *words]
            self.process = subprocess.Popen(command, cwd=home.work, env=home.variables, stderr=log, **pipes)

    def hear(self, data):
        with self.writing:
            if not self.transcript.closed:
                self.transcript.write(data)

    def said(self):
        return self.log.read_text(errors="replace")[-4000:]

    def kill(self):
        self.process.kill()
        self.end()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(ANSWER_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.end()

    def end(self):
        self.process.wait()
        if getattr(self, "reader", None):
            self.reader.join(ANSWER_SECONDS_MAX)
        with self.writing:
            self.transcript.close()


class Stdio(Gateway):
    transport = "stdio"

    def __init__(self, home, number, is_older):
        self.answers, self.waiting, self.next_id, self.is_open = {}, {}, 1, True
        self.lock, self.is_older = threading.Lock(), is_older
        self.launch(home, number, [], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if is_older:
            identity = {"name": "privacy test", "version": "1"}
            opening = {"protocolVersion": OLDER_VERSION, "capabilities": {}, "clientInfo": identity}
            self.request("initialize", opening)
            self.send({"method": "notifications/initialized"})
            self.request("logging/setLevel", {"level": "debug"})

    def request(self, method, params, taken_back_after=None):
        arrived = threading.Event()
        meta = {"progressToken": self.next_id, **({} if self.is_older else META)}
        with self.lock:
            if not self.is_open:
                raise Ended
            number, self.next_id = self.next_id, self.next_id + 1
            self.waiting[number] = arrived
        self.send({"id": number, "method": method, "params": {**params, "_meta": meta}})
        if taken_back_after is not None:
            time.sleep(taken_back_after)
            self.send({"method": "notifications/cancelled", "params": {"requestId": number}})
            return None
        if not arrived.wait(ANSWER_SECONDS_MAX):
            raise Trouble(f"no answer within {ANSWER_SECONDS_MAX} s to {method} {json.dumps(params)[:500]}")
        with self.lock:
            if number not in self.answers:
                raise Ended
            return self.answers.pop(number)

    def send(self, message):
        with self.lock:
            try:
                self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                self.process.stdin.flush()
            except (OSError, ValueError):
                raise Ended from None

    def read(self):
        for line in self.process.stdout:
            self.hear(line)
            if not line.endswith(b"\n"):
                break
            message = json.loads(line)
            with self.lock:
                arrived = None if "method" in message else self.waiting.pop(message.get("id"), None)
                if arrived:
                    self.answers[message["id"]] = message
                    arrived.set()
        with self.lock:
            self.is_open = False
            for arrived in self.waiting.values():
                arrived.set()


class Http(Gateway):
    transport = "http"

    def __init__(self, home, number):
        self.launch(home, number, ["--http", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        until = time.monotonic() + START_SECONDS_MAX
        while not (found := re.search(r"listening on http://127\.0\.0\.1:(\d+)/", self.said())):
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                raise Trouble(f"gristmill serve doesn't listen: {self.said()}")
            time.sleep(0.05)
        self.port = int(found[1])

    def client(self, token):
        return HttpClient(self, token)


class HttpClient:
    """One request is one connection."""

    def __init__(self, gateway, token):
        self.gateway, self.token = gateway, token

    def request(self, method, params, taken_back_after=None):
        meta = {**META, "progressToken": "told"}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
        }
        if name := params.get("name") or params.get("uri"):
            headers["Mcp-Name"] = name
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=ANSWER_SECONDS_MAX)
        try:
            connection.request("POST", "/mcp", json.dumps(body), headers)
            if taken_back_after is not None:
                time.sleep(taken_back_after)
                return None
            text = connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            raise Ended from None
        finally:
            connection.close()
        self.gateway.hear(text + b"\n")
        if not text.startswith(b"{"):
            text = [line for line in text.splitlines() if line.startswith(b"data:") and b"{" in line]
            if not text:
                raise Ended
            text = text[-1][5:]
        return json.loads(text)

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=ANSWER_SECONDS_MAX)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
            self.gateway.hear(connection.getresponse().read() + b"\n")
        except (OSError, http.client.HTTPException):
            raise Ended from None
        finally:
            connection.close()
