"""What stands on the wire, byte by byte, without any SDK in between."""

import http.client
import json
import signal
import subprocess
import time
import unittest
from urllib.parse import urlsplit

from every_client import TOOLS
from served import SHUTDOWN_SECONDS_MAX, Home
from world import Installed

SECONDS_MAX = 30
MODERN = "2026-07-28"


TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


def modern(method, number=1, capabilities=None, meta=None, **params):
    always = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities or {},
    }
    params["_meta"] = {**always, **(meta or {})}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def run(code, number=7, capabilities=None, meta=None, **arguments):
    """A call of execute_code."""
    told = {"name": "execute_code", "arguments": {"code": code, **arguments}}
    return modern("tools/call", number, capabilities, meta, **told)


def handshake():
    about = {"name": "wire", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}
    return [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]


class OverHttp(unittest.TestCase):
    transport = "http"

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        try:
            cls.url = urlsplit(cls.home.serve_over_http("--profile", "standard"))
        except BaseException:
            cls.home.close()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.home.close()

    def post(self, body, **headers):
        """(status, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=SECONDS_MAX)
        accept = "application/json, text/event-stream"
        always = {"Content-Type": "application/json", "Accept": accept, **self.home.headers()}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request("POST", self.url.path, body, {**always, **named})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def ask(self, method, number=1, **headers):
        body = json.dumps(modern(method, number))
        return self.post(body, MCP_Protocol_Version=MODERN, Mcp_Method=method, **headers)

    def messages(self, request, **headers):
        """All messages that answer a request, those on the way included."""
        name = request["params"].get("name") or request["params"].get("taskId")
        named = {"Mcp_Name": name} if name else {}
        method = request["method"]
        status, body = self.post(
            json.dumps(request), MCP_Protocol_Version=MODERN, Mcp_Method=method, **named, **headers
        )
        self.assertEqual(status, 200, body)
        if body.startswith(b"{"):
            return [json.loads(body)]
        lines = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
        return [json.loads(line) for line in lines if line]

    def test_the_list_of_tools_is_the_same_bytes_each_time(self):
        first, second = self.ask("tools/list"), self.ask("tools/list")
        self.assertEqual(first[0], 200, first)
        self.assertEqual(first, second)

    def test_a_program_that_says_nothing_is_still_told_of(self):
        request = run("await asyncio.sleep(6)", meta={"progressToken": "slow"}, timeout_s=20)
        *told, last = self.messages(request)
        heard = {(one["method"], one["params"]["progressToken"]) for one in told}
        self.assertEqual(heard, {("notifications/progress", "slow")})
        self.assertEqual(last["result"]["structuredContent"]["status"], "ok")

    def test_a_program_in_the_background_is_a_task_for_who_knows_tasks(self):
        code = "await asyncio.sleep(1)\nresult = 'done'"
        [created] = self.messages(run(code, capabilities=TASKS, background=True))
        task = created["result"]
        self.assertEqual((task["resultType"], task["status"]), ("task", "working"), task)
        deadline = time.monotonic() + SECONDS_MAX
        while task["status"] == "working" and time.monotonic() < deadline:
            time.sleep(0.2)
            [seen] = self.messages(modern("tasks/get", 8, TASKS, taskId=task["taskId"]))
            task = seen["result"]
        self.assertEqual(task["status"], "completed", task)
        self.assertEqual(task["result"]["structuredContent"], {"status": "ok", "result": "done"})

    def test_a_program_in_the_background_is_no_task_for_others(self):
        [answer] = self.messages(run("result = 1", background=True))
        self.assertEqual(answer["result"]["resultType"], "complete")
        self.assertIn("id", answer["result"]["structuredContent"])

    def test_a_foreign_origin_is_refused(self):
        status, body = self.ask("tools/list", Origin="https://evil.example.com")
        self.assertEqual(status, 403, body)

    def test_a_foreign_host_is_refused(self):
        status, body = self.ask("tools/list", Host="evil.example.com")
        self.assertIn(status, (400, 403, 421), body)

    def test_without_a_token_nothing_is_answered(self):
        for token in ("", "Bearer gmt_wrong"):
            status, body = self.ask("tools/list", Authorization=token)
            self.assertEqual(status, 401, body)

    def test_what_is_not_json_is_refused_and_the_next_request_works(self):
        status, body = self.post("{not json", MCP_Protocol_Version=MODERN, Mcp_Method="tools/list")
        self.assertEqual(status, 400, body)
        self.assertEqual(self.ask("tools/list")[0], 200)

    def test_other_paths_and_verbs_are_refused(self):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=SECONDS_MAX)
        self.addCleanup(connection.close)
        for verb, path, expected in (("POST", "/", 404), ("PUT", self.url.path, 405)):
            connection.request(verb, path, "{}", {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, expected, (verb, path))


class OverStdio(unittest.TestCase):
    transport = "stdio"

    @classmethod
    def setUpClass(cls):
        cls.home = Home()

    @classmethod
    def tearDownClass(cls):
        cls.home.close()

    def lines(self, messages, *flags, stderr=None):
        """What comes back on standard output, until the server has ended by itself."""
        said = "".join(
            (text if isinstance(text, str) else json.dumps(text)) + "\n" for text in messages
        )
        world = self.home.world
        done = subprocess.run(
            [Installed.gristmill, "serve", *flags],
            input=said.encode(),
            capture_output=True,
            cwd=world.work,
            env=world.variables,
            timeout=SECONDS_MAX,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        if stderr is not None:
            self.assertEqual(done.stderr, stderr)
        return done.stdout.splitlines()

    def answer(self, lines, number):
        found = [line for line in lines if json.loads(line).get("id") == number]
        self.assertEqual(len(found), 1, lines)
        return found[0]

    def test_the_list_of_tools_is_the_same_bytes_in_each_process(self):
        # Until something was heard of every server, the list may still grow.
        self.lines([modern("tools/call", name="search_tools", arguments={})])
        for opening in ([], handshake()):
            ask = modern("tools/list") if not opening else {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            first, second = (self.answer(self.lines([*opening, ask]), 1) for _ in range(2))
            self.assertEqual(first, second)
            self.assertIn("result", json.loads(first))

    def test_the_list_of_tools_depends_on_servers_only_in_what_it_tells_of_them(self):
        self.lines([modern("tools/call", name="search_tools", arguments={})])
        quiet = self.answer(self.lines([modern("tools/list")], "--signature-tokens", "0"), 1)
        self.assertEqual(quiet, self.answer(self.lines([modern("tools/list")], "--no-servers"), 1))
        telling = self.answer(self.lines([modern("tools/list")]), 1)
        listed, plain = (json.loads(line)["result"]["tools"] for line in (telling, quiet))
        told = listed[0]["description"].removeprefix(plain[0]["description"])
        self.assertRegex(told, r"^\n\n(All tools by server|Servers )")
        self.assertIn("calculator", told)
        listed[0]["description"] = plain[0]["description"]
        self.assertEqual(listed, plain)

    def test_each_profile_lists_its_tools(self):
        expected = {"minimal": TOOLS[:2], "standard": TOOLS, "full": [*TOOLS, "validate_code", "sanitize_pii", "restore_pii", "execute_python"]}
        for profile, names in expected.items():
            line = self.answer(self.lines([modern("tools/list")], "--profile", profile), 1)
            self.assertEqual([tool["name"] for tool in json.loads(line)["result"]["tools"]], names)

    def test_what_is_no_message_is_refused_and_the_next_request_works(self):
        nested = '{"jsonrpc": "2.0", "id": 9, "method": "x", "params": ' + "[" * 5000 + "]" * 5000 + "}"
        for said in ("{not json", "[]", nested):
            with self.subTest(said[:20]):
                lines = self.lines([said, *handshake(), {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}])
                self.assertIn("result", json.loads(self.answer(lines, 1)))
                errors = [line for line in map(json.loads, lines) if "error" in line]
                self.assertEqual(len(errors), 1, lines)
                self.assertIn(errors[0]["error"]["code"], (-32700, -32600, -32601, -32602))

    def test_a_request_that_is_not_whole_is_told_what_is_missing(self):
        for params in ({}, {"name": 5}, {"name": "execute_code", "arguments": [1]}):
            error = json.loads(self.answer(self.lines([modern("tools/call", **params)]), 1))["error"]
            self.assertEqual(error["code"], -32602, error)

    def test_a_client_that_only_looks_hears_no_complaint(self):
        lines = self.lines([modern("server/discover")], stderr=b"")
        self.assertIn("result", json.loads(self.answer(lines, 1)))

    def test_it_ends_when_told_to_though_its_client_still_listens(self):
        world = self.home.world
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        command = [Installed.gristmill, "serve"]
        with subprocess.Popen(command, cwd=world.work, env=world.variables, **pipes) as process:
            try:
                process.stdin.write(json.dumps(run("result = 1")).encode() + b"\n")
                process.stdin.flush()
                self.assertIn(b'"result":1', process.stdout.readline())
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(SHUTDOWN_SECONDS_MAX), 0)
            finally:
                process.kill()

    def test_nothing_but_messages_is_on_standard_output(self):
        for line in self.lines([run("print('x')")]):
            self.assertEqual(json.loads(line)["jsonrpc"], "2.0")

    def test_a_program_that_was_asked_for_ends_before_the_server_does(self):
        request = run("await asyncio.sleep(1)\nresult = 'done'")
        answer = json.loads(self.answer(self.lines([request]), 7))
        self.assertEqual(answer["result"]["structuredContent"]["result"], "done")
