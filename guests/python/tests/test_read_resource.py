import textwrap
import unittest

from tests.fake_host import FakeHost, Refusal, run

NOTES = "gristmill://files/file%3A%2F%2F%2Fnotes.txt"


def text(content):
    return {"uri": NOTES, "mimeType": "text/plain", "text": content}


def blob(content):
    return {"uri": NOTES, "mimeType": "image/png", "blob": content}


class ReadResource(unittest.TestCase):
    def answer(self, contents, code=f'await read_resource("{NOTES}")'):
        self.host = FakeHost(resource=lambda request: {"contents": contents})
        return run(textwrap.dedent(code), self.host)

    def check(self, contents, expected, code=f'await read_resource("{NOTES}")'):
        outcome = self.answer(contents, code)
        self.assertEqual(outcome, {"ok": True, "result": expected, "has_result": True, "notes": []})

    def test_text_comes_as_text_and_the_request_has_uri_and_line(self):
        self.check([text("grüße")], "grüße")
        self.assertEqual(self.host.started, [("resource", {"uri": NOTES, "line": 1})])

    def test_other_content_comes_as_bytes(self):
        code = f'data = await read_resource("{NOTES}")\n[type(data).__name__, list(data)]'
        self.check([blob("AAH/")], ["bytes", [0, 1, 255]], code)

    def test_several_contents_come_as_a_list(self):
        self.check([text("a"), text("b")], ["a", "b"])
        self.check([], [])

    def test_content_that_is_neither_is_an_error_with_its_line(self):
        for contents in ([{}], [7], 7, [blob("not base64")], [blob(7)], [text(7)]):
            error = self.answer(contents)["error"]
            self.assertEqual((error["kind"], error["line"]), ("tool", 1), contents)
            self.assertIn("neither text nor base64", error["message"])

    def test_a_refusal_is_a_tool_error(self):
        def refuse(request):
            raise Refusal(message="there is no server `x`", code="GM-1402", kind="bad_arguments", tool="read_resource")

        code = """
        try:
            await read_resource("gristmill://x/y")
        except ToolError as error:
            result = [str(error), error.code]
        """
        outcome = run(textwrap.dedent(code), FakeHost(resource=refuse))
        self.assertEqual(outcome["result"], ["there is no server `x`", "GM-1402"])

    def test_many_are_read_at_once(self):
        code = f'await asyncio.gather(*(read_resource("{NOTES}") for _ in range(3)))'
        self.check([text("a")], ["a", "a", "a"], code)

    def test_one_that_is_never_awaited_is_named(self):
        error = self.answer([text("a")], f'read_resource("{NOTES}")\n1')["error"]
        self.assertEqual(error["message"], f'read_resource("{NOTES}") on line 1 was never awaited, so it wasn\'t sent')
        self.assertEqual(error["hint"], "write: await read_resource(...)")

    def test_what_is_no_text_is_named(self):
        error = self.answer([], "await read_resource(5)")["error"]
        self.assertIn("read_resource takes a URI as a string, not int", error["message"])


if __name__ == "__main__":
    unittest.main()
