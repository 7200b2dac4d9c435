"""What people do every day: add servers, look at their tools, call them from programs."""

import json
import subprocess

from world import World


class Listed(World):
    def test_five_servers_are_added_and_come_up(self):
        self.add("everything", self.everything())
        self.add("files", self.npm("filesystem", self.work))
        self.add("memory", self.npm("memory"), env=[f"MEMORY_FILE_PATH={self.work}/memory.jsonl"])
        self.add("git", self.python("git"))
        self.add("time", self.python("time", "--local-timezone", "UTC"))
        found = self.json("list", "--json", "--timeout", "50s")
        fields = ("name", "state", "tools", "waiting", "remarks", "log")
        up = {"state": "up", "waiting": 0, "remarks": [], "log": None}
        tools = {"everything": 13, "files": 14, "git": 12, "memory": 9, "time": 2}
        expected = [{"name": name, "tools": count, **up} for name, count in tools.items()]
        self.assertEqual([{field: row[field] for field in fields} for row in found], expected)
        self.assertEqual(
            {row["protocol"] for row in found} - {"2025-11-25", "2025-06-18", "2026-07-28"}, set()
        )
        listed = self.json("tools", "list", "--json")
        self.assertEqual(len(listed), sum(tools.values()))
        self.assertEqual(len({(tool["server"], tool["name"]) for tool in listed}), sum(tools.values()))

    def test_a_program_that_is_not_there_is_named_as_down(self):
        self.add("gone", [str(self.folder / "no-such-program")])
        self.add("everything", self.everything())
        done = self.gristmill("list", "--json")
        self.assertEqual(done.code, 1)
        states = {row["name"]: row["state"] for row in json.loads(done.out)}
        self.assertEqual(states, {"everything": "up", "gone": "down"})
        report = self.program("result = await callMCPTool('gone.anything')")
        self.assertEqual(report["error"]["code"], "GM-3001")
        self.assertIn("`gone` is down: command", report["error"]["message"])
        done = self.ok("tools", "search", "sum")
        self.assertIn("everything.get_sum(", done.out)
        self.assertIn("note: gone is down: ", done.err)

    def test_an_import_from_a_server_that_is_down_says_so(self):
        self.add("gone", [str(self.folder / "no-such-program")])
        for code in (
            "from servers.gone import anything",
            "import servers.gone\nawait servers.gone.anything()",
        ):
            error = self.program(code)["error"]
            self.assertIn("server gone is down", str(error))


class AtOnce(World):
    def test_many_at_once_in_one_home_agree_on_what_is_approved(self):
        self.add("everything", self.everything())
        self.add("memory", self.npm("memory"), env=[f"MEMORY_FILE_PATH={self.work}/memory.jsonl"])
        code = """
from servers.everything import echo
from servers.memory import read_graph
print(await echo(message="x"), await read_graph())
"""
        running = [self.begin(code) for _ in range(4)]
        expected = (0, "Echo: x {'entities': [], 'relations': []}\n", "")
        self.assertEqual(
            [(done.code, done.out, done.err) for done in (one.end() for one in running)], [expected] * 4
        )
        self.assertEqual(self.ok("tools", "review").out, "no changes: everything is as you approved it\n")


class Everything(World):
    def setUp(self):
        super().setUp()
        self.add("everything", self.everything())

    def test_tools_are_found_by_what_they_do(self):
        found = self.json("tools", "search", "--json", "add two numbers")
        self.assertEqual(found["hits"][0]["tool"], "everything.get-sum")
        self.assertEqual(found["hits"][0]["signature"], "everything.get_sum(a: float, b: float)")

    def test_a_tool_is_shown_as_python_typescript_and_json(self):
        python = self.ok("tools", "show", "get-structured-content").out
        self.assertIn(
            'location: Literal["New York", "Chicago", "Los Angeles"],\n) -> GetStructuredContentResult:',
            python,
        )
        compile(python, "stub", "exec")
        typescript = self.ok(
            "tools", "show", "everything.get_structured_content", "--format", "typescript"
        ).out
        self.assertIn('location: "New York" | "Chicago" | "Los Angeles"', typescript)
        raw = self.json("tools", "show", "get-structured-content", "--format", "json")
        self.assertEqual(raw["name"], "get-structured-content")

    def test_names_with_hyphens_are_called_by_either_spelling(self):
        code = """
        import servers.everything
        from servers.everything import get_sum
        names = ["get-sum", "everything.get-sum", "everything.get_sum", "get_sum"]
        answers = [await callMCPTool(name, {"a": 1, "b": 2}) for name in names]
        answers.append(await get_sum(a=1, b=2))
        answers.append(await servers.everything.get_sum(a=1, b=2))
        result = answers
        """
        self.assertEqual(self.result(code), ["The sum of 1 and 2 is 3."] * 6)
        for name in ("get-sum", "everything.get-sum", "everything.get_sum"):
            self.assertEqual(self.ok("tools", "call", name, "a=1", "b=2").out, "The sum of 1 and 2 is 3.\n")

    def test_many_calls_at_once_are_each_answered_with_their_own(self):
        code = """
        import asyncio
        from servers.everything import echo
        answers = await asyncio.gather(*(echo(message=f"number {i}") for i in range(200)))
        result = answers == [f"Echo: number {i}" for i in range(200)]
        """
        self.assertIs(self.result(code), True)

    def test_large_arguments_and_answers_arrive_whole(self):
        code = """
        from servers.everything import echo
        text = "zażółć gęślą jaźń \\n\\t\\"\\\\ 🦀 " * 50_000
        result = await echo(message=text) == "Echo: " + text
        """
        self.assertIs(self.result(code), True)

    def test_images_come_as_files(self):
        code = """
        from servers.everything import get_tiny_image
        before, image, after = await get_tiny_image()
        head = open(image["path"], "rb").read(8)
        size = len(open(image["path"], "rb").read())
        result = [before, image["type"], image["mime"], image["bytes"] == size, head.hex(), after]
        """
        words = ["Here's the image you requested:", "The image above is the MCP logo."]
        expected = [words[0], "image", "image/png", True, "89504e470d0a1a0a", words[1]]
        self.assertEqual(self.result(code), expected)

    def test_resource_links_come_as_they_are(self):
        code = """
        from servers.everything import get_resource_links
        result = (await get_resource_links(count=2))[1:]
        """
        links = [(link["type"], link["uri"], link["mimeType"]) for link in self.result(code)]
        blob, text = "demo://resource/dynamic/blob/1", "demo://resource/dynamic/text/2"
        self.assertEqual(
            links, [("resource_link", blob, "text/plain"), ("resource_link", text, "text/plain")]
        )

    def test_embedded_resources_come_as_text_or_files(self):
        code = """
        from servers.everything import get_resource_reference
        _, text, _ = await get_resource_reference(resourceType="Text", resourceId=1)
        _, blob, _ = await get_resource_reference(resourceType="Blob", resourceId=1)
        result = [str(text), open(blob["file"]["path"]).read()]
        """
        text, blob = self.result(code)
        self.assertIn("Resource 1: This is a plaintext resource", text)
        self.assertIn("Resource 1: This is a base64 blob", blob)

    def test_structured_content_is_a_plain_value(self):
        code = """
        from servers.everything import get_structured_content
        weather = await get_structured_content(location="Chicago")
        result = [weather["temperature"] + 0, weather["humidity"] + 0, weather["conditions"], list(weather)]
        """
        expected = [36, 82, "Light rain / drizzle", ["temperature", "conditions", "humidity"]]
        self.assertEqual(self.result(code), expected)

    def test_progress_is_shown_and_keeps_a_call_alive(self):
        self.add("slow", self.everything(), limits={"call": "1s"})
        done = self.ok("tools", "call", "slow.trigger-long-running-operation", "duration=3", "steps=6")
        self.assertEqual(done.out, "Long running operation completed. Duration: 3 seconds, Steps: 6.\n")
        self.assertEqual(done.err.splitlines()[:6], [f"{step} of 6" for step in range(1, 7)])

    def test_an_error_of_the_tool_is_raised_with_its_words(self):
        code = """
        from servers.everything import get_resource_reference
        try:
            await get_resource_reference(resourceType="Blob", resourceId=-1)
        except ToolError as error:
            result = [error.code, error.kind, error.tool, str(error)]
        """
        words = "Invalid resourceId: -1. Must be a finite positive integer."
        expected = ["GM-1104", "tool", "everything.get-resource-reference", words]
        self.assertEqual(self.result(code), expected)

    def test_wrong_arguments_are_told_before_anything_is_sent(self):
        self.ok("tools", "list")
        # Now it cannot be started any more, and whoever tries fails with GM-3001.
        (self.folder / "npm").unlink()
        code = """
        from servers.everything import get_sum, get_structured_content
        said = []
        for call in (
            lambda: get_sum(a="x", b=2),
            lambda: get_sum(a=1, bb=2),
            lambda: get_structured_content(location="Paris"),
            lambda: callMCPTool("get-summ", {}),
        ):
            try:
                said.append(await call())
            except ToolError as error:
                said.append([error.code, str(error)])
        result = said
        """
        cities = '"New York", "Chicago", "Los Angeles"'
        report = self.program(code)
        self.assertEqual(report["result"][0], ["GM-1402", '`a` must be a number, not "x"'])
        self.assertEqual(report["result"][1][0], "GM-1402")
        self.assertIn("`bb` is not an argument of everything.get-sum", report["result"][1][1])
        self.assertEqual(report["result"][2], ["GM-1402", f'`location` must be one of {cities}, not "Paris"'])
        self.assertEqual(report["result"][3][0], "GM-1401")
        self.assertIn("get_sum", report["result"][3][1].replace("-", "_"))

    def test_the_tree_of_tools_is_there_to_be_read(self):
        code = """
        result = [
            list_directory("servers"),
            "get-sum.py" in list_directory("servers/everything"),
            "async def get_sum" in read_file("servers/everything/get-sum.py"),
            "get_sum" in str(search_tools("add numbers")),
            "async def get_sum" in str(describe_tool("get-sum")),
        ]
        """
        self.assertEqual(self.result(code), [["everything/", "index.md"], True, True, True, True])


class Files(World):
    def test_files_are_read_and_written_below_the_root_only(self):
        root = self.work / "root"
        root.mkdir()
        (self.work / "outside.txt").write_text("not for you")
        (root / "link.txt").symlink_to(self.work / "outside.txt")
        self.add("files", self.npm("filesystem", root))
        code = f"""
        from servers.files import read_text_file, write_file
        await write_file(path="{root}/new.txt", content="one\\ntwo\\n")
        said = [(await read_text_file(path="{root}/new.txt", head=1))]
        for path in ("{root}/../outside.txt", "{root}/link.txt", "/etc/hostname"):
            try:
                said.append(await read_text_file(path=path))
            except ToolError as error:
                said.append(str(error)[:13])
        result = said
        """
        first, *others = self.result(code)
        self.assertEqual(first, {"content": "one"})
        self.assertEqual(others, ["Access denied"] * 3)
        self.assertEqual((root / "new.txt").read_text(), "one\ntwo\n")

    def test_a_picture_is_read_into_the_workspace(self):
        picture = bytes.fromhex("89504e470d0a1a0a") + bytes(range(256))
        (self.work / "picture.png").write_bytes(picture)
        self.add("files", self.npm("filesystem", self.work))
        code = f"""
        from servers.files import read_media_file
        answer = await read_media_file(path="{self.work}/picture.png")
        import os
        names = os.listdir("/workspace/tool_files")
        result = [open("/workspace/tool_files/" + name, "rb").read().hex() for name in names]
        """
        self.assertEqual(self.result(code), [picture.hex()])


class Memory(World):
    def test_a_graph_made_by_one_program_is_read_by_the_next(self):
        self.add("memory", self.npm("memory"), env=[f"MEMORY_FILE_PATH={self.work}/memory.jsonl"])
        ada = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}
        engine = {"name": "Engine", "entityType": "machine", "observations": []}
        relation = {"from": "Ada", "to": "Engine", "relationType": "programs"}
        code = f"""
        from servers.memory import create_entities, create_relations
        await create_entities(entities=[{ada}, {engine}])
        await create_relations(relations=[{relation}])
        result = True
        """
        self.assertIs(self.result(code), True)
        code = """
        from servers.memory import read_graph
        result = await read_graph()
        """
        self.assertEqual(self.result(code), {"entities": [ada, engine], "relations": [relation]})


class Git(World):
    def test_a_commit_is_made_and_seen(self):
        repository = self.work / "repository"
        repository.mkdir()
        for words in (
            ["init", "-q"],
            ["config", "user.email", "a@example.com"],
            ["config", "user.name", "Ada"],
        ):
            subprocess.run(["git", "-C", repository, *words], check=True, timeout=30, env=self.variables)
        (repository / "one.txt").write_text("one\n")
        self.add("git", self.python("git", "--repository", repository))
        # Its first start takes its time on a busy machine.
        self.ok("list", "--timeout", "50s")
        code = f"""
        from servers.git import git_add, git_commit, git_log, git_status
        where = "{repository}"
        await git_add(repo_path=where, files=["one.txt"])
        await git_commit(repo_path=where, message="The first one")
        said = [await git_status(repo_path=where), str(await git_log(repo_path=where))]
        try:
            await git_status(repo_path="/")
        except ToolError as error:
            said.append(str(error))
        result = said
        """
        status, log, refused = self.result(code)
        self.assertIn("nothing to commit, working tree clean", status)
        self.assertIn("The first one", log)
        self.assertIn("outside the allowed repository", refused)
        words = ["git", "-C", repository, "log", "--format=%s"]
        seen = subprocess.run(words, capture_output=True, text=True, timeout=30, env=self.variables)
        self.assertEqual(seen.stdout, "The first one\n")


class Time(World):
    def test_times_are_converted(self):
        self.add("time", self.python("time", "--local-timezone", "UTC"))
        code = """
        from servers.time import convert_time
        there = await convert_time(source_timezone="Asia/Tokyo", time="09:15", target_timezone="Asia/Kolkata")
        said = [there["target"]["datetime"][11:16], there["time_difference"]]
        try:
            await convert_time(source_timezone="Mars/Olympus", time="09:15", target_timezone="UTC")
        except ToolError as error:
            said.append("Mars/Olympus" in str(error))
        result = said
        """
        self.assertEqual(self.result(code), ["05:45", "-3.5h", True])
