"""What a server is given in confidence stays between gristmill and the server."""

import json

from world import World

TOKEN = "gm-raw-value-4f1c9a7e"


class Environment(World):
    def add_with_token(self, token, command=None):
        self.variables.update(GM_TEST_TOKEN=token, GM_TEST_UNNAMED="gm-not-configured-77")
        self.add("everything", command or self.everything(), env=["TOKEN=${GM_TEST_TOKEN}", "PLAIN=as it is"])

    def everywhere(self):
        """Everything that was written anywhere below the world's folder."""
        files = (path for path in self.folder.rglob("*") if path.is_file() and path.parent.name != "engines")
        linked = (self.folder / "npm", self.folder / "python")
        own = (path for path in files if not any(link in path.parents for link in linked))
        return {
            str(path.relative_to(self.folder)): path.read_bytes().decode(errors="replace") for path in own
        }

    def assert_nowhere(self, *values):
        found = {name: value for name, text in self.everywhere().items() for value in values if value in text}
        self.assertEqual(found, {})

    def test_a_server_sees_what_is_configured_and_nothing_else(self):
        self.add_with_token(TOKEN)
        seen = self.json("tools", "call", "get-env", "--json")
        self.assertEqual(seen["PLAIN"], "as it is")
        self.assertEqual(set(seen) - {"PATH", "HOME", "LANG", "TMPDIR"}, {"PLAIN", "TOKEN"})
        self.assertNotIn("gm-not-configured-77", json.dumps(seen))

    def test_a_secret_comes_back_as_its_name(self):
        self.add_with_token(TOKEN)
        code = """
        from servers.everything import echo, get_env
        result = [(await get_env())["TOKEN"], await echo(message="it is gm-raw-" + "value-4f1c9a7e, is it?")]
        """
        shown = "[secret env:GM_TEST_TOKEN]"
        self.assertEqual(self.result(code, "--workspace", self.work), [shown, f"Echo: it is {shown}, is it?"])
        done = self.ok("tools", "call", "get-env")
        self.assertEqual(json.loads(done.out)["TOKEN"], shown)
        self.assertNotIn(TOKEN, done.out + done.err)
        for words in (["list"], ["list", "--json"], ["get", "everything"], ["config", "show"]):
            done = self.ok(*words)
            self.assertNotIn(TOKEN, done.out + done.err)
        self.assert_nowhere(TOKEN)

    def test_a_secret_with_quotes_in_it_comes_back_as_its_name(self):
        token = 'gm-"quoted"-\\back\\-4f1c'
        self.add_with_token(token)
        code = """
        from servers.everything import get_env
        result = (await get_env())["TOKEN"]
        """
        self.assertEqual(self.result(code), "[secret env:GM_TEST_TOKEN]")
        self.assertNotIn("quoted", self.ok("tools", "call", "get-env").out)

    def test_a_secret_beyond_ascii_comes_back_as_its_name(self):
        # Python's servers write it as \\u00fc, others as it is.
        token = "gm-schlüssel-ñandú-4f1c"
        command = self.unruly(["garbage"], self.everything())
        self.add_with_token(token, command)
        code = """
        from servers.everything import get_env
        result = (await get_env())["TOKEN"]
        """
        self.assertEqual(self.result(code), "[secret env:GM_TEST_TOKEN]")

    def test_a_server_that_tells_its_secret_everywhere_tells_nobody(self):
        self.add_with_token(TOKEN, self.unruly(["tell=TOKEN"], self.everything()))
        said = {}
        for words in (
            ["list"],
            ["list", "--json"],
            ["tools", "list"],
            ["tools", "list", "--json"],
            ["tools", "search", "echo"],
            ["tools", "show", "echo"],
            ["tools", "show", "echo", "--format", "json"],
            ["tools", "call", "echo", "message=hello"],
        ):
            done = self.gristmill(*words)
            said[" ".join(words)] = done.out + done.err
        code = """
        from servers.everything import echo
        await echo(message="hello")
        result = [str(search_tools("echo")), describe_tool("echo"), read_file("servers/index.md")]
        """
        said["run"] = json.dumps(self.program(code))
        self.assertEqual([words for words, text in said.items() if TOKEN in text], [])
        self.assert_nowhere(TOKEN)

    def test_a_refusal_does_not_hold_the_secret(self):
        self.add_with_token(TOKEN, self.unruly(["refuse=TOKEN"], self.everything()))
        said = {}
        for words in (["list"], ["list", "--json"], ["tools", "list"], ["tools", "call", "everything.echo"]):
            done = self.gristmill(*words)
            said[" ".join(words)] = done.out + done.err
        said["run"] = json.dumps(self.program("await callMCPTool('everything.echo', {'message': 'x'})"))
        self.assertIn("is wrong", said["list"])
        self.assertEqual([words for words, text in said.items() if TOKEN in text], [])
        self.assert_nowhere(TOKEN)

    def test_a_variable_that_is_not_set_is_named_and_nothing_is_started(self):
        self.add("everything", self.everything(), env=["TOKEN=${GM_TEST_NOT_SET}"])
        done = self.gristmill("list")
        self.assertEqual(done.code, 1)
        self.assertIn("GM_TEST_NOT_SET", done.out)
