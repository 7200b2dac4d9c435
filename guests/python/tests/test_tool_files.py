import base64
import builtins
import errno
import io
import json
import os
import pickle
import textwrap
import unittest

from gristmill_guest import files, loop, tool_files, tools, warm
from tests.fake_host import FakeHost, Raw, Refusal, run
from tests.places import InAWorkspace

PNG = b"\x89PNG\r\n\x1a\n\x00"


def coded(data):
    return base64.b64encode(data).decode("ascii")


def answer(value, *described):
    """An answer with files; bytes stand for a PNG."""
    listed = [
        {"mime": "image/png", "base64": coded(item), "name": "chart"} if isinstance(item, bytes) else item
        for item in described
    ]
    return Raw("F" + json.dumps({"value": value, "files": listed}))


def without_bytes(value):
    """A result without the bytes that go along with it."""
    if isinstance(value, list):
        return [without_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: item for key, item in value.items() if key != "$file" or not isinstance(item, dict)}
    return {key: without_bytes(item) for key, item in kept.items()}


class World(InAWorkspace):
    def setUp(self):
        super().setUp()
        self.answers = {}
        self.host = FakeHost()
        self.host._tools = self

    def __getitem__(self, name):
        return lambda arguments: self.answers[name]

    def run_program(self, code, **tools):
        self.answers.update(tools)
        return run(textwrap.dedent(code), self.host)

    def result(self, code, **tools):
        outcome = self.run_program(code, **tools)
        self.assertTrue(outcome["ok"], outcome)
        return without_bytes(outcome["result"])

    def error(self, code, **tools):
        outcome = self.run_program(code, **tools)
        self.assertFalse(outcome["ok"], outcome)
        return outcome["error"]

    def stands(self, name, kind="image", mime="image/png", size=len(PNG)):
        return {"type": kind, "path": f"{self.root}/tool_files/{name}", "mime": mime, "bytes": size}

    def names(self):
        folder = self.root + "/tool_files"
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


class Placing(World):
    def test_a_file_lies_in_the_workspace_and_its_place_in_the_value(self):
        value = self.result('await callMCPTool("draw")', draw=answer({"$file": 0}, PNG))
        self.assertEqual(value, self.stands("draw-1.png"))
        with open(value["path"], "rb") as file:
            self.assertEqual(file.read(), PNG)

    def test_an_image_in_the_result_brings_its_bytes(self):
        run = self.run_program('[await callMCPTool("draw")]', draw=answer({"$file": 0}, PNG))
        marked = {"media_type": "image/png", "bytes": len(PNG), "base64": coded(PNG)}
        self.assertEqual(run["result"], [self.stands("draw-1.png") | {"$file": marked}])

    def test_only_an_image_of_this_run_that_is_there_and_fits_brings_bytes(self):
        for code in (
            'import os\nresult = await callMCPTool("draw")\nos.remove(result["path"])',
            'result = await callMCPTool("draw")\nresult["bytes"] = "many"',
            'result = await callMCPTool("draw")\nresult["path"] = __file__',
            'result = await callMCPTool("draw")\nopen(result["path"], "wb").write(bytes(100_000))',
            '{"type": "image", "path": "/workspace/a.png", "mime": "image/png", "bytes": 1}',
            'await callMCPTool("sing")',
        ):
            with self.subTest(code=code):
                sound = answer({"$file": 0}, {"mime": "audio/wav", "base64": coded(PNG)})
                run = self.run_program(code, draw=answer({"$file": 0}, PNG), sing=sound)
                self.assertTrue(run["ok"], run)
                self.assertNotIn("$file", run["result"])

    def test_files_deep_in_a_value_are_found_and_everything_else_stays(self):
        value = {
            "a": [1, {"b": [{"$file": 1}, {"$file": 0}]}, "F"],
            "not": [{"$file": 0, "more": 1}, {"$file": "0"}, {"$file": True}, {"$file": None}, {"file": 0}, {}],
            "again": {"$file": 1},
        }
        got = self.result('await callMCPTool("draw")', draw=answer(value, PNG, {"mime": "audio/wav", "base64": ""}))
        wave = self.stands("draw-2.wav", "audio", "audio/wav", 0)
        self.assertEqual(
            got,
            {"a": [1, {"b": [wave, self.stands("draw-1.png")]}, "F"], "not": value["not"], "again": wave},
        )
        self.assertEqual(self.names(), ["draw-1.png", "draw-2.wav"])

    def test_a_value_as_deep_as_json_can_be_is_walked(self):
        deep = '{"a":' * 400 + '{"$file":0}' + "}" * 400
        payload = Raw('F{"value":' + deep + ',"files":[{"mime":"image/gif","base64":""}]}')
        code = 'v = await callMCPTool("draw")\nfor _ in range(400):\n    v = v["a"]\nv["bytes"]'
        self.assertEqual(self.result(code, draw=payload), 0)

    def test_an_answer_without_references_writes_nothing(self):
        self.assertEqual(self.result('await callMCPTool("draw")', draw=answer([1], PNG)), [1])
        self.assertEqual(self.names(), [])

    def test_kinds_and_extensions_come_from_the_type_alone(self):
        for mime, kind, extension, told in (
            ("image/jpeg", "image", "jpg", "image/jpeg"),
            ("IMAGE/PNG; charset=x", "image", "png", "image/png"),
            ("image/../../x", "image", "bin", "image/../../x"),
            ("audio/mpeg", "audio", "mp3", "audio/mpeg"),
            ("application/pdf", "file", "pdf", "application/pdf"),
            ("text/x-python", "file", "bin", "text/x-python"),
            ("", "file", "bin", "application/octet-stream"),
            (7, "file", "bin", "application/octet-stream"),
            ("x" * 1000, "file", "bin", "x" * 100),
        ):
            with self.subTest(mime=mime):
                described = {"mime": mime, "base64": "", "name": "../../evil.py"}
                got = self.result('await callMCPTool("t")', t=answer({"$file": 0}, described))
                self.assertEqual((got["type"], got["mime"]), (kind, told))
                self.assertEqual(os.path.dirname(got["path"]), f"{self.root}/tool_files")
                self.assertTrue(got["path"].endswith("." + extension))

    def test_the_name_is_the_tools_and_harmless(self):
        for tool, stem in (
            ("charts.render-pie", "render-pie"),
            ("../../etc/passwd", "_etc_passwd"),
            ("a b\u00e9/c", "a_b__c"),
            ("..", "tool"),
            ("---", "tool"),
            ("x" * 500, "x" * 60),
        ):
            with self.subTest(tool=tool):
                self.answers[tool] = answer({"$file": 0}, PNG)
                got = self.result(f"await callMCPTool({tool!r})")
                self.assertEqual(got["path"], f"{self.root}/tool_files/{stem}-{got['path'][-5]}.png")

    def test_numbers_count_up_over_all_tools_of_a_run_and_begin_anew_in_the_next(self):
        code = """
        a = await callMCPTool("x.draw")
        b, c = await asyncio.gather(callMCPTool("plot"), callMCPTool("draw"))
        [v["path"].rsplit("/")[-1] for v in (a, b, c)]
        """
        drawn = {name: answer({"$file": 0}, PNG) for name in ("x.draw", "plot", "draw")}
        self.answers.update(drawn)
        self.assertEqual(self.result(code), ["draw-1.png", "plot-2.png", "draw-3.png"])
        # The first names are taken now, so the next run passes them over.
        self.assertEqual(self.result(code), ["draw-2.png", "plot-3.png", "draw-4.png"])
        for name in self.names():
            os.remove("tool_files/" + name)
        self.assertEqual(self.result(code), ["draw-1.png", "plot-2.png", "draw-3.png"])

    def test_an_existing_file_is_never_overwritten(self):
        files.write_file("tool_files/draw-1.png", "mine")
        os.mkdir("tool_files/draw-2.png")
        value = self.result('await callMCPTool("draw")', draw=answer({"$file": 0}, PNG))
        self.assertEqual(value, self.stands("draw-3.png"))
        self.assertEqual(files.read_file("tool_files/draw-1.png"), "mine")

    def test_a_call_awaited_again_writes_nothing_again(self):
        code = """
        call = callMCPTool("draw")
        a = await call
        a["path"] = "changed"
        [await call, await call]
        """
        stands = self.stands("draw-1.png")
        self.assertEqual(self.result(code, draw=answer({"$file": 0}, PNG)), [stands, stands])
        self.assertEqual(self.names(), ["draw-1.png"])

    def test_the_working_directory_does_not_matter(self):
        os.mkdir("elsewhere")
        code = 'import os\nos.chdir("elsewhere")\nv = await callMCPTool("draw")\nlen(open(v["path"], "rb").read())'
        self.assertEqual(self.result(code, draw=answer({"$file": 0}, PNG)), len(PNG))
        self.assertEqual(self.names(), ["draw-1.png"])

    def test_line_breaks_in_base64_are_no_harm(self):
        described = {"mime": "image/png", "base64": base64.encodebytes(PNG * 50).decode()}
        value = self.result('await callMCPTool("draw")', draw=answer({"$file": 0}, described))
        self.assertEqual(value["bytes"], len(PNG) * 50)

    def test_text_that_begins_with_f_is_no_answer_with_files(self):
        self.assertEqual(self.result('await callMCPTool("say")', say="F{}"), "F{}")
        self.assertEqual(self.result('await callMCPTool("say")', say={"$file": 0}), {"$file": 0})


class Refusing(World):
    def check(self, payload, message, code="GM-1104"):
        error = self.error('x = 1\nawait callMCPTool("draw")', draw=payload)
        self.assertEqual(
            (error["kind"], error["type"], error["line"], error["code"]), ("tool", "ToolError", 2, code), error
        )
        self.assertIn(message, error["message"])
        self.assertEqual(self.names(), [])

    def test_answers_that_cannot_be_read(self):
        for text in ("F", "F{", "Fnull", "F[]", 'F{"value":1}', 'F{"files":[]}', 'F{"value":1,"files":{}}', "False"):
            with self.subTest(text=text):
                self.check(Raw(text), "the tool's answer has files, but cannot be read")
        self.check(Raw('F{"value":' + "[" * 200_000), "cannot be read")

    def test_bad_numbers(self):
        for number in (1, -1, 10**30):
            with self.subTest(number=number):
                self.check(answer([{"$file": 0}, {"$file": number}], PNG), f"refers to file {number} but contains 1")
        self.check(answer({"$file": 0}), "refers to file 0 but contains 0")

    def test_bad_base64(self):
        for text in ("x", "AAA", "A===", "AA==AA==", "AA=A", "é", "\ud800", "AA-_", "=", "AAAA="):
            with self.subTest(text=text):
                payload = answer([{"$file": 0}, {"$file": 1}], PNG, {"base64": text})
                self.check(payload, "file 1 of the tool's answer is not base64")
        for described in ({}, {"base64": None}, {"base64": 5}, None, [], "AAAA"):
            with self.subTest(described=described):
                self.check(answer({"$file": 0}, described), "file 0 of the tool's answer has no base64 text")

    def test_too_many_files(self):
        self.check(answer(1, *[b""] * 1001), "has 1,001 files; at most 1,000", None)

    def test_a_file_in_the_place_of_the_folder(self):
        files.write_file("tool_files", "mine")
        error = self.error('await callMCPTool("draw")', draw=answer({"$file": 0}, PNG))
        self.assertIn("/tool_files is a file; the tool's files go into a folder of that name", error["message"])
        self.assertEqual(files.read_file("tool_files"), "mine")

    def test_a_full_workspace_is_told_and_nothing_half_done_stays(self):
        for failing in ("open", "write", "close"):
            with self.subTest(failing=failing):
                disk = _FullDisk(failing, files_left=1)
                self.addCleanup(setattr, tool_files, "_open", io.open)
                tool_files._open = disk.open
                code = """
                try:
                    await callMCPTool("x.draw")
                except ToolError as e:
                    result = [str(e), e.tool, e.kind, e.line]
                """
                self.answers["x.draw"] = answer([{"$file": 0}, {"$file": 1}], b"one", PNG)
                message = (
                    "the tool answered with a file (image/png, 9 bytes) that doesn't fit in the workspace: "
                    f"{os.strerror(errno.EDQUOT)}; remove files, or ask the tool for less"
                )
                self.assertEqual(self.result(code), [message, "x.draw", "limit", 3])
                self.assertEqual(self.names(), [])

    def test_a_refused_answer_may_be_awaited_again_once_there_is_room(self):
        disk = _FullDisk("write", files_left=0)
        self.addCleanup(setattr, tool_files, "_open", io.open)
        tool_files._open = disk.open
        code = """
        call = callMCPTool("draw")
        try:
            await call
        except ToolError:
            make_room()
        (await call)["bytes"]
        """
        self.answers["draw"] = answer({"$file": 0}, PNG)
        builtins.make_room = disk.make_room
        self.addCleanup(delattr, builtins, "make_room")
        self.assertEqual(self.result(code), len(PNG))
        self.assertEqual(len(self.host.started), 1)

    def test_a_failure_that_begins_with_f_is_a_failure(self):
        error = tools.error_from('F{"value": 1, "files": []}', "t")
        self.assertEqual((str(error), error.tool), ('F{"value": 1, "files": []}', "t"))


class _FullDisk:
    """Takes `files_left` files, and then fails at one step of writing."""

    def __init__(self, failing, files_left):
        self._failing = failing
        self._files_left = files_left

    def make_room(self):
        self._files_left = 100

    def open(self, path, mode):
        if self._files_left > 0:
            self._files_left -= 1
            return io.open(path, mode)
        if self._failing == "open":
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), path)
        return _FullFile(self._failing, io.open(path, mode))


class _FullFile:
    def __init__(self, failing, file):
        self._failing = failing
        self._file = file

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()
        if self._failing == "close":
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    def write(self, data):
        self._file.write(data[:1])
        if self._failing == "write":
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


class RetrySafety(World):
    def test_it_is_taken_from_the_failure_and_shown_nowhere_else(self):
        for told, expected in ((True, True), (False, False), (None, None), ("yes", None), (1, None)):
            def refuse(arguments, told=told):
                raise Refusal(message="lost", code="GM-1104", kind="tool", tool="t", retry_safe=told)

            self.host._tools = {"t": refuse}
            code = 'try:\n    await callMCPTool("t")\nexcept ToolError as e:\n    result = [str(e), e.retry_safe]'
            self.assertEqual(self.result(code), ["lost", expected])
            error = self.error('await callMCPTool("t")')
            self.assertNotIn("retry_safe", json.dumps(error))

    def test_it_is_unknown_where_nobody_says_and_survives_a_copy(self):
        self.assertIsNone(tools.error_from('{"message": "m"}', "t").retry_safe)
        copy = pickle.loads(pickle.dumps(_Error("m", "t", "c", "k", True)))
        self.assertEqual((copy.message, copy.tool, copy.code, copy.kind, copy.retry_safe), ("m", "t", "c", "k", True))

    def test_hostile_details_give_a_plain_error(self):
        for payload in ("[" * 100_000, "[]", "1", "", '{"message": 5}', '{"retry_safe": {}}'):
            with self.subTest(payload=payload[:20]):
                error = tools.error_from(payload, "t")
                self.assertEqual((error.tool, error.code, error.retry_safe), ("t", None, None))


class _Error(tools.ToolError):
    """ToolError under a name that pickle finds here."""


_Error.__module__ = __name__


class BetweenRuns(World):
    def test_a_warm_up_leaves_neither_files_nor_counts(self):
        self.result('await callMCPTool("draw")', draw=answer({"$file": 0}, PNG))
        before = self.names()
        warm.warm()
        self.assertEqual((self.names(), loop.current()), (before, None))
        self.assertEqual(loop.RunState(None).tool_file_count, 0)

    def test_the_call_is_what_it_was(self):
        self.result('await callMCPTool("draw", {"a": 1})', draw=answer({"$file": 0}, PNG))
        self.assertEqual(self.host.started, [("tool", {"name": "draw", "arguments": {"a": 1}, "line": 1})])


if __name__ == "__main__":
    unittest.main()
