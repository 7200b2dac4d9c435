"""The inspector's command line, as people use it to try a server out."""

import json
import unittest

from every_client import TOOLS
from served import Clients, Home, run_bounded
from world import Installed

SECONDS_MAX = 60


class Inspected:
    @classmethod
    def setUpClass(cls):
        cls.home = Home()

    @classmethod
    def tearDownClass(cls):
        cls.home.close()

    def inspect(self, *words, code=0):
        program = Clients.npm / "node_modules" / ".bin" / "mcp-inspector"
        world = self.home.world
        done = run_bounded([Clients.node, program, "--cli", *self.target(), *words], world, SECONDS_MAX)
        self.assertEqual(done.returncode, code, done)
        return done.stdout

    def call(self, tool, *arguments, **options):
        words = [word for argument in arguments for word in ("--tool-arg", argument)]
        return json.loads(self.inspect("--method", "tools/call", "--tool-name", tool, *words, **options))

    def test_tools_are_listed_with_schemas_that_every_client_takes(self):
        listed = json.loads(self.inspect("--method", "tools/list", "--strict"))
        names = [tool["name"] for tool in listed["tools"]]
        self.assertEqual(names, TOOLS[:2])

    def test_a_program_is_run(self):
        code = "from servers.calculator import evaluate; result = await evaluate(expression='6*7')"
        answer = self.call("execute_code", f"code={code}")
        self.assertEqual(answer["structuredContent"]["result"], {"expression": "6*7", "value": 42})

    def test_tools_are_found(self):
        self.assertIn("get_sum", json.dumps(self.call("search_tools", "query=add two numbers")))

    def test_resources_and_prompts_are_listed(self):
        self.assertIn("gristmill://everything/", self.inspect("--method", "resources/list"))
        self.assertIn("everything.simple-prompt", self.inspect("--method", "prompts/list"))


class InspectorOverStdio(Inspected, unittest.TestCase):
    transport = "stdio"

    def target(self):
        # It hands little of its environment on.
        data = f"GRISTMILL_DATA_DIR={self.home.world.data}"
        return [Installed.gristmill, "serve", "-e", data]


class InspectorOverHttp(Inspected, unittest.TestCase):
    transport = "http"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            cls.url = cls.home.serve_over_http()
        except BaseException:
            cls.home.close()
            raise

    def target(self):
        [(name, value)] = self.home.headers().items()
        return [self.url, "--transport", "http", "--header", f"{name}: {value}"]
