import json
import unittest

from gristmill_guest import signature
from tests.fake_host import FakeHost, run
from tests.places import BesideTrees

PYTHON = '''"""Reads a document."""

from typing import TypedDict


class Document(TypedDict):
    title: str


@deprecated
async def get_document(
    *,
    document_id: str,
    part: Literal["(", ")"] = "(",
) -> Document:
    """Reads: one (document)."""
    ...
'''
PYTHON_HEAD = """async def get_document(
    *,
    document_id: str,
    part: Literal["(", ")"] = "(",
) -> Document:"""
TYPESCRIPT = """/** Reads a document; function get_document( is its name. */
export interface Document { title: string; }

export declare function get_document(
  input: { documentId: string; part?: "{" | ";" }, // the part; all of it
): Promise<{ title: string; }>;
export const after = 1;
"""
TYPESCRIPT_HEAD = """export declare function get_document(
  input: { documentId: string; part?: "{" | ";" }, // the part; all of it
): Promise<{ title: string; }>;"""


class World(BesideTrees):
    tree = {
        "servers/index.md": "",
        "servers/google-drive/get-document.py": PYTHON,
        "servers/google-drive/get-document.ts": TYPESCRIPT,
        "servers/google-drive/index.ts": "",
        "servers/google-drive/import.py": "def import_(): ...",
        "servers/google-drive/Read.py": "upper",
        "servers/box/read.py": "lower",
        "servers/box/search.py": "box search",
        "servers/mail_box/search.py": "mail search",
        "servers/mail_box/browser_click.py": "click",
        "servers/down/.server.json": json.dumps({"state": "it crashed"}),
    }

    def described(self, arguments):
        host = FakeHost()
        outcome = run(f"describe_tool({arguments})", host)
        self.assertTrue(outcome["ok"], outcome)
        self.assertEqual(host.started, [])
        return outcome["result"]

    def error(self, arguments):
        outcome = run(f"x = 1\ndescribe_tool({arguments})")
        self.assertFalse(outcome["ok"], outcome)
        return outcome["error"]


class Describing(World):
    def test_any_spelling_of_the_name_finds_the_stub(self):
        for name in (
            "get-document",
            "get_document",
            "getDocument",
            "GETDOCUMENT_",
            "google-drive.get-document",
            "google_drive.getDocument",
            "GoogleDrive.get_document",
            "google-drive/get-document",
            "mcp__google-drive__get_document",
            "  get_document ",
        ):
            with self.subTest(name=name):
                self.assertEqual(self.described(repr(name)), PYTHON)

    def test_names_with_dots_and_reserved_words_are_found(self):
        for name in ("browser.click", "mail_box.browser.click", "mailBox.browser_click"):
            self.assertEqual(self.described(repr(name)), "click")
        for name in ("import", "import_", "google_drive.import", "googleDrive.import_"):
            self.assertEqual(self.described(repr(name)), "def import_(): ...")

    def test_the_exact_spelling_wins_over_others(self):
        self.assertEqual([self.described(repr(name)) for name in ("Read", "read")], ["upper", "lower"])

    def test_it_may_be_awaited_and_is_text(self):
        code = 't = describe_tool("import")\n[(await t) is t, isinstance(t, str), t.upper(), str(t)]'
        self.assertEqual(run(code)["result"], [True, True, "DEF IMPORT_(): ...", "def import_(): ..."])
        code = 'a, b = await asyncio.gather(describe_tool("import"), describe_tool("Read"))\nb'
        self.assertEqual(run(code)["result"], "upper")

    def test_a_signature_is_the_head_of_the_function(self):
        self.assertEqual(self.described('"get_document", detail="signature"'), PYTHON_HEAD)
        self.assertEqual(self.described('"get_document", "signature", "typescript"'), TYPESCRIPT_HEAD)
        self.assertEqual(self.described('"get_document", language="ts"'), TYPESCRIPT)
        self.assertEqual(self.described('"import", "signature"'), "def import_(): ...")

    def test_arguments_are_checked(self):
        for arguments, message in (
            ("5", "describe_tool takes the tool's name as text, not int"),
            ('" "', "describe_tool needs the tool's name"),
            ('"x", "names"', 'detail of describe_tool must be one of full, signature, not "names"'),
            ('"x", language="rust"', 'language of describe_tool must be one of python, py, typescript, ts, not "rust"'),
            ('"x", language=None', "language of describe_tool must be one of python, py, typescript, ts, not NoneType"),
        ):
            error = self.error(arguments)
            self.assertEqual((error["type"], error["message"]), ("TypeError", message))


class Failing(World):
    def check(self, name, message, code="GM-1401"):
        error = self.error(repr(name))
        self.assertEqual(
            (error["kind"], error["code"], error["line"], error["message"]), ("tool", code, 2, message), name
        )

    def test_an_ambiguous_name_is_answered_with_the_candidates(self):
        said = '"{}" may be {}; write one of these'
        self.check("search", said.format("search", "box.search, mail_box.search"))
        self.check("READ", said.format("READ", "box.read, google-drive.Read"))

    def test_an_unknown_name_is_answered_with_the_nearest(self):
        self.check("get_documnt", 'there is no tool "get_documnt"; did you mean google-drive.get-document?')
        self.check("box.serch", 'there is no tool "box.serch"; did you mean box.search?')
        self.check(
            "mail.search", 'there is no tool "mail.search"; did you mean mail_box.search, box.search?'
        )
        self.check("zzzz", 'there is no tool "zzzz"; find one with search_tools(...)')

    def test_a_server_is_not_a_tool(self):
        self.check(
            "mailBox", '"mailBox" is a server, not a tool; its tools: mail_box.browser_click, mail_box.search'
        )

    def test_a_server_that_is_down_says_so(self):
        self.check("down.anything", "server down is down: it crashed", None)
        self.check("down", "server down is down: it crashed", None)

    def test_a_language_without_a_stub_is_told(self):
        message = self.error('"Read", language="ts"')["message"]
        self.assertEqual(message, "google-drive.Read has no description in this language; try another")

    def test_hostile_names_find_nothing_outside_the_tree(self):
        for name in ("../../etc/passwd", "a/../b", "x\0y", "." * 300, "__" * 150, "x" * 100_000, "\ud800", ".server"):
            with self.subTest(name=name[:20]):
                error = self.error(repr(name))
                self.assertEqual((error["type"], error["code"]), ("ToolError", "GM-1401"))
                self.assertLess(len(error["message"]), 400)


class WithoutATree(BesideTrees):
    def test_it_says_that_there_are_no_tools(self):
        error = run('describe_tool("x")')["error"]
        self.assertEqual(error["message"], 'there is no tool "x": no server is connected')


class Signatures(unittest.TestCase):
    def test_heads_of_functions(self):
        for extension, text, expected in (
            ("py", "def f(a: str = 'é:') -> None: ...", "def f(a: str = 'é:') -> None: ..."),
            ("py", "def other(): ...\ndef f(\n  a,\n):\n    pass\n", "def f(\n  a,\n):"),
            ("py", "def g():\n\n    # why\n    return 1", "def g():\n\n    # why"),
            ("py", "x = 1", "x = 1"),
            ("py", "def (", "def ("),
            ("py", "def f(x='\x0c\u2028'):\n    '''\\d'''\n", "def f(x='\x0c\u2028'):"),
            ("py", "f(" + "(" * 5000, "f(" + "(" * 5000),
            ("ts", "export async function f(): Promise<void> {\n  x();\n}", "export async function f(): Promise<void>"),
            ("ts", "function f(): { a: 1 } | { b: 2 } {\n}", "function f(): { a: 1 } | { b: 2 }"),
            ("ts", "function f(g: () => void): [{ a: ';' }];\nx;", "function f(g: () => void): [{ a: ';' }];"),
            ("ts", "function f(", "function f("),
            ("ts", "const x = 1;", "const x = 1;"),
        ):
            with self.subTest(text=text[:40]):
                self.assertEqual(signature.of(text, "f", extension), expected)


if __name__ == "__main__":
    unittest.main()
