"""Personal data that goes from one server to another, past clients that nobody here wrote: they see tokens only."""

import json
import re
import sys
from pathlib import Path

from every_client import Newer, Older, program
from served import Home, Served, text_of

PARTS = Path(__file__).resolve().parents[1] / "privacy-test"
sys.path.append(str(PARTS))

import planted  # noqa: E402
import searched  # noqa: E402

SEED = 14
PEOPLE = planted.people(SEED)
PRIVACY = """
[privacy]
mode = "boundary"
"""
TOKEN = re.compile(r"\[[A-Z_]+_[a-z0-9]{8,}\]")
FORMED = re.compile(r"^(\[EMAIL_[a-z0-9]{8,}\]|email-[a-z0-9]{8,}@token\.invalid)$")

SEND = """
from servers.people import list_people
from servers.mail import deliver
found = (await list_people(limit=3))["people"]
for one in found:
    await deliver(to=one["email"], subject="Hello", body="…", mark=str(one["number"]))
print(found)
result = found[0]["email"]
"""
LATER = "from servers.mail import deliver\nresult = await deliver(to=who, subject='later', mark='later')"
REFUSED = """
from servers.people import get_person
from servers.mail import forward
await forward(note=(await get_person(number=4))["ssn"], mark="refused")
"""


def steps(home):
    session = {"session": "letters"}
    shown = {"from": ["sent", "structuredContent", "result"]}
    typed = planted.sentence(PEOPLE[7])

    def call(name, tool, **arguments):
        return {"name": name, "do": "call", "tool": tool, "arguments": arguments}

    return [
        program("sent", SEND, arguments=session, progress=True),
        program("later", LATER, arguments={**session, "context": {"who": shown}}),
        program("elsewhere", LATER, arguments={"session": "other", "context": {"who": shown}}),
        program("refused", REFUSED, arguments=session),
        program("raised", "from servers.people import fail\nawait fail(number=5)", arguments=session),
        program("asked back", "result = restore_pii(who)", arguments={**session, "context": {"who": shown}}),
        call("sanitized", "sanitize_pii", text=typed, **session),
        call("restored", "restore_pii", text=shown, **session),
        {"name": "resource", "do": "read_resource", "uri": "gristmill://people/people%3A%2F%2F9"},
        {"name": "prompt", "do": "get_prompt", "prompt": "people.write", "arguments": {"number": "8"}},
    ]


class Private:
    steps = staticmethod(steps)
    flags = ("--profile", "full")

    @classmethod
    def make_home(cls):
        home = Home()
        cls.arrived = home.world.folder / "arrived.jsonl"
        server = [sys.executable, str(PARTS / "people_server.py")]
        home.world.add("people", [*server, "people", str(SEED)])
        home.world.add("mail", [*server, "mail", str(SEED), str(cls.arrived)])
        config = home.world.home / ".config" / "gristmill" / "gristmill.toml"
        config.write_text(config.read_text() + PRIVACY)
        return home

    def letters(self):
        lines = map(json.loads, self.arrived.read_text(encoding="utf-8").splitlines())
        return {line["mark"]: line for line in lines}

    def test_values_go_from_server_to_server(self):
        self.report("sent")
        letters = self.letters()
        for number in range(3):
            self.assertEqual(letters[str(number)]["to"], PEOPLE[number]["email"])

    def test_the_transcript_has_no_value(self):
        transcript = json.dumps(self.seen, ensure_ascii=False).encode()
        self.assertEqual(searched.Needles(PEOPLE).find(transcript), set())

    def test_a_token_that_was_shown_is_good_in_the_next_program(self):
        self.assertRegex(self.report("sent")["result"], FORMED)
        self.report("later")
        self.assertEqual(self.letters()["later"]["to"], PEOPLE[0]["email"])

    def test_another_session_cannot_use_it(self):
        self.assertEqual(self.report("elsewhere", "failed")["error"]["code"], "GM-3305")

    def test_what_may_not_go_there_is_refused_before_it_is_sent(self):
        report = self.report("refused", "failed")
        self.assertEqual(report["error"]["code"], "GM-3305")
        self.assertIn("other-argument", text_of(self.saw("refused")))
        self.assertNotIn("refused", self.letters())

    def test_errors_resources_and_prompts_have_tokens(self):
        self.report("raised", "failed")
        texts = [
            text_of(self.saw("raised")),
            self.saw("resource")["contents"][0]["text"],
            self.saw("prompt")["messages"][0]["content"]["text"],
        ]
        for text in texts:
            self.assertRegex(text, TOKEN)

    def test_text_is_sanitized(self):
        text = text_of(self.saw("sanitized"))
        self.assertGreaterEqual(len(set(TOKEN.findall(text))), len(planted.KINDS), text)

    def test_nobody_gets_a_value_back_at_production(self):
        seen = self.saw("restored")
        self.assertIn("restore_to_model", text_of(seen))
        self.assertNotIn(PEOPLE[0]["email"], json.dumps([seen, self.saw("asked back")]))


class Python1OverStdio(Private, Older, Served):
    program, major, transport = "python_client.py", "1", "stdio"


class Python1OverHttp(Private, Older, Served):
    program, major, transport = "python_client.py", "1", "http"


class Python2OverStdio(Private, Newer, Served):
    program, major, transport = "python_client.py", "2", "stdio"


class Python2OverHttp(Private, Newer, Served):
    program, major, transport = "python_client.py", "2", "http"


class TypeScript1OverHttp(Private, Older, Served):
    program, major, transport = "typescript_client.mjs", "1", "http"


class TypeScript2OverStdio(Private, Newer, Served):
    program, major, transport = "typescript_client.mjs", "2", "stdio"
