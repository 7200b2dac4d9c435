import contextlib
import json
import unittest
from unittest import mock

from gristmill_guest import catalogue, files
from tests.fake_host import FakeHost, run
from tests.places import BesideTrees

NEVER = "raise SystemError('never executed')"


class Calling(BesideTrees):
    def called(self, code):
        host = FakeHost()
        host._tools = _Any()
        outcome = run(code, host)
        self.assertTrue(outcome["ok"], outcome)
        return [request["name"] for _, request in host.started]


class Imports(Calling):
    tree = {
        "servers/index.md": "# Servers",
        "servers/google-drive/getDocument.py": NEVER,
        "servers/google-drive/getDocument.ts": "",
        "servers/google-drive/index.ts": "",
        "servers/google-drive/index.md": "",
        "servers/google-drive/.server.json": json.dumps({"state": "never read: it has tools"}),
        "servers/google-drive/import.py": NEVER,
        "servers/google-drive/2fa.py": NEVER,
        "servers/google-drive/with-dash.py": NEVER,
        "servers/crm/.server.json": json.dumps({"state": "connection refused\nby host"}),
        "servers/empty/.server.json": json.dumps({"name": "empty"}),
        "servers/odd/.server.json": "[" * 100_000,
        "servers/.names.json": json.dumps({"ALIKE": "alike", "crm_": "alike", "x": "no such folder"}),
        "servers/alike/A_B.py": NEVER,
        "servers/alike/a_b_2.py": NEVER,
        "servers/alike/a_b_3.py": NEVER,
        "servers/alike/.server.json": json.dumps({
            "names": {"a_b": "a_b_2", "a-b": "a_b_3", "gone": "nowhere"},
            "state": "held back until reviewed: gone",
        }),
        "skills/adder.py": "def add(a, b):\n    return a + b, read_file\n",
    }

    def error(self, code):
        outcome = run(code)
        self.assertFalse(outcome["ok"], outcome)
        return outcome["error"]

    def test_of_names_that_fold_alike_the_exact_one_is_called(self):
        calls = "from servers.alike import a_b, A_B\nimport servers.alike as s\nfor f in (a_b, A_B, s.a_b, s.a_b_3): await f()"
        self.assertEqual(self.called(calls), ["alike.a_b_2", "alike.A_B", "alike.a_b_2", "alike.a_b_3"])

    def test_a_server_is_found_by_its_own_name(self):
        self.assertEqual(self.called("from servers.crm_ import A_B\nawait A_B()"), ["alike.A_B"])

    def test_a_tool_that_is_held_back_is_said_to_be(self):
        for code in ("from servers.alike import gone", "import servers.alike\nservers.alike.gone()"):
            self.assertIn("held back until reviewed: gone", str(self.error(code)))

    def test_a_tool_is_found_in_any_spelling(self):
        from servers.google_drive import get_document, getDocument
        from servers.google_drive.get_document import getDocument as again

        for function in (getDocument, get_document, again):
            call = function(documentId="1")
            self.assertEqual(call.tool, "google-drive.getDocument")
            call.close()

    def test_every_way_to_import_gives_a_function(self):
        name = "google-drive.getDocument"
        for code in (
            "import servers.google_drive\nawait servers.google_drive.getDocument(id=1)",
            "import servers\nawait servers.google_drive.getDocument({'id': 1})",
            "import servers.googleDrive as drive\nawait drive.get_document(id=1)",
            "from servers import google_drive\nawait google_drive.getDocument(id=1)",
            "from servers import *\nawait google_drive.getDocument(id=1)",
            "from servers.google_drive import *\nawait getDocument(id=1)",
            "from servers.google_drive.getDocument import *\nawait getDocument(id=1)",
            "import servers.google_drive.getDocument\nawait servers.google_drive.getDocument(id=1)",
            "from servers.google_drive.getDocument import getDocument as g\n"
            "from servers.google_drive import getDocument\nawait getDocument(id=1)",
        ):
            with self.subTest(code=code):
                self.assertEqual(self.called(code), [name])

    def test_all_names_are_identifiers_and_only_tools(self):
        code = "import servers.google_drive as g\n[g.__all__, dir(g), g._2fa.__name__, g.import_.__name__, g.__name__]"
        names = ["_2fa", "getDocument", "import_", "with_dash"]
        self.assertEqual(run(code)["result"], [names, names, "_2fa", "import_", "servers.google_drive"])

    def test_names_that_are_no_identifiers_can_be_called(self):
        code = "from servers.google_drive import *\nawait _2fa()\nawait import_()\nawait with_dash()"
        self.assertEqual(self.called(code), ["google-drive.2fa", "google-drive.import", "google-drive.with-dash"])

    def test_a_server_that_is_down_says_so(self):
        for code in (
            "import servers.crm",
            "from servers import crm",
            "from servers.CRM import get_customer",
            "import servers\nservers.crm.get_customer()",
            "import servers.crm.get_customer",
        ):
            with self.subTest(code=code):
                error = self.error(code)
                self.assertEqual(
                    (error["type"], error["message"]), ("ImportError", "server crm is down: connection refused by host")
                )

    def test_a_server_without_tools_is_not_called_down(self):
        self.assertEqual(run("import servers.empty, servers.odd\nservers.empty.__all__")["result"], [])
        self.assertIn("it has: nothing", self.error("import servers.empty\nservers.empty.x()")["message"])
        names = run("import servers\nservers.__all__")["result"]
        self.assertEqual(names, ["alike", "empty", "google_drive", "odd"])

    def test_a_wrong_server_or_tool_is_answered_with_a_near_one(self):
        for name, near in (
            ("servers.gogle_drive", "did you mean 'servers.google_drive'"),
            ("servers.google_drive.getDocumnt", "did you mean 'servers.google_drive.getDocument'"),
            ("servers.google_drive.zzz", "there are: _2fa, getDocument, import_, with_dash"),
        ):
            with self.subTest(name=name), self.assertRaisesRegex(ModuleNotFoundError, near):
                __import__(name)

    def test_a_module_of_a_tool_is_called_like_it_and_others_are_not(self):
        code = "import servers.google_drive.getDocument\n"
        code += "[callable(servers.google_drive.getDocument), callable(servers.google_drive)]"
        self.assertEqual(run(code)["result"], [True, False])

    def test_the_next_run_reads_the_tree_again(self):
        self.assertEqual(len(run("import servers.empty\nservers.empty.__all__")["result"]), 0)
        files.write_file("servers/empty/late.py", NEVER)
        self.assertEqual(run("import servers.empty\nservers.empty.__all__")["result"], ["late"])

    def test_a_skill_finds_the_same_names_as_a_program(self):
        from skills.adder import add

        self.assertEqual(add(1, 2), (3, files.read_file))


class ManyServers(Calling):
    """What a program imports is all that it waits for, however many servers there are."""

    tree = {f"servers/server_{number}/{tool}.py": NEVER for number in range(40) for tool in ("get", "put")}

    def looks(self, code):
        counted = []

        def count(look):
            def counting(path):
                counted.append(str(path).removeprefix(self.root))
                return look(path)

            return counting

        looks = ("_listdir", "_scandir", "_exists", "_isdir")
        with contextlib.ExitStack() as patches:
            for look in looks:
                patches.enter_context(mock.patch.object(catalogue, look, count(getattr(catalogue, look))))
            self.called(code)
        return counted

    def test_an_import_looks_at_its_own_server_only(self):
        folder = "/servers/server_7"
        expected = ["/servers", folder, folder, f"{folder}/get.py"]
        self.assertEqual(self.looks("from servers.server_7 import get\nawait get()"), expected)
        self.assertEqual(self.looks("import servers.server_7 as s\nawait s.get()\nawait s.get()"), expected)

    def test_another_spelling_lists_the_servers_once(self):
        looks = self.looks("from servers.Server_7 import Get\nfrom servers.Server_8 import Put\nawait Get()\nawait Put()")
        self.assertEqual((looks.count("/servers"), len(looks)), (2, 10), looks)

    def test_all_servers_are_looked_at_when_somebody_asks_for_all(self):
        self.assertEqual(len(run("import servers\nservers.__all__")["result"]), 40)
        self.assertEqual(len(run("import servers\ndir(servers)")["result"]), 40)
        self.assertEqual(run("import servers.server_7 as s\ndir(s)")["result"], ["get_", "put"])

    def test_they_are_plain_modules(self):
        error = run("import servers.server_7 as s\ns()")["error"]
        self.assertEqual(error["message"], "'module' object is not callable")


class PartOfATree(Calling):
    """A caller that isn't shown everything: what isn't there is the gateway's to answer."""

    tree = {"servers/.partial": "", "servers/crm/get_record.py": NEVER, "servers/crm/.server.json": "{}"}

    def test_names_that_are_not_shown_can_be_imported_and_called(self):
        for code in (
            "from servers.crm import delete_record\nawait delete_record(id=1)",
            "import servers.crm.delete_record\nawait servers.crm.delete_record(id=1)",
            "import servers\nawait servers.crm.delete_record(id=1)",
        ):
            with self.subTest(code=code):
                self.assertEqual(self.called(code), ["crm.delete_record"])
        for code in (
            "from servers.billing import refund\nawait refund(id=1)",
            "import servers\nawait servers.billing.refund(id=1)",
            "from servers import billing\nawait billing.refund(id=1)",
        ):
            with self.subTest(code=code):
                self.assertEqual(self.called(code), ["billing.refund"])

    def test_they_are_listed_nowhere(self):
        code = "import servers\n[servers.__all__, servers.crm.__all__, hasattr(servers.crm, '_x')]"
        self.assertEqual(run(code)["result"], [["crm"], ["get_record"], False])


class WithoutATree(BesideTrees):
    def test_the_name_is_free_for_a_package_of_the_workspace(self):
        files.write_file("own/servers/__init__.py", "")
        files.write_file("own/servers/mine.py", "x = 5")
        code = "import sys\nsys.path.insert(0, 'own')\nimport servers.mine\nresult = servers.mine.x\n"
        code += "sys.path.remove('own')\ndel sys.modules['servers'], sys.modules['servers.mine']"
        self.assertEqual(run(code)["result"], 5)


class _Any:
    def __getitem__(self, name):
        return lambda arguments: arguments


if __name__ == "__main__":
    unittest.main()
