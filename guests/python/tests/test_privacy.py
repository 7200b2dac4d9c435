import textwrap
import unittest

from tests.fake_host import FakeHost, run


def hidden(request):
    """A gateway that hides one address, and gives it back."""
    ways = {"sanitize": ("ada@example.com", "[EMAIL_aaaaaaaa]"), "restore": ("[EMAIL_aaaaaaaa]", "ada@example.com")}
    before, after = ways[request["do"]]
    return {key: value.replace(before, after) for key, value in request["value"].items()}


class Helpers(unittest.TestCase):
    def test_what_one_helper_or_a_tool_gives_another_takes(self):
        host = FakeHost(privacy=hidden, person=lambda _: {"email": "ada@example.com"})
        code = """
        person = await callMCPTool("person", {})
        safe = sanitize_pii(person)
        [safe, restore_pii(safe), await privacy.restore(await privacy.sanitize(person))]
        """
        known = {"email": "ada@example.com"}
        outcome = run(textwrap.dedent(code), host)
        self.assertEqual(outcome.get("result"), [{"email": "[EMAIL_aaaaaaaa]"}, known, known], outcome)

    def test_what_is_no_plain_data_is_named(self):
        outcome = run("sanitize_pii({'when': {1, 2}})", FakeHost(privacy=hidden))
        self.assertIn("value.when is a set", outcome["error"]["message"])
