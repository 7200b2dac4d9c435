import os
import sys
import tempfile
import unittest

from gristmill_guest import files, missing, trees


class InAWorkspace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.root = folder.name
        os.chdir(folder.name)


class FileHelpers(InAWorkspace):
    def test_what_is_written_can_be_listed_and_read(self):
        self.assertEqual(files.write_file("a/b.txt", "hé"), 3)
        self.assertEqual(files.write_file("c.bin", b"\xff"), 1)
        self.assertEqual(files.list_directory(), ["a/", "c.bin"])
        self.assertEqual(files.read_file("a/b.txt"), "hé")

    def test_a_wrong_name_is_answered_with_near_ones(self):
        files.write_file("getDocument.py", "")
        for name in ("getDocumnt.py", "get_document.py"):
            with self.assertRaises(FileNotFoundError) as caught:
                files.read_file(name)
            self.assertIn('did you mean "getDocument.py"?', str(caught.exception))

    def test_the_other_helper_is_named_when_it_is_the_right_one(self):
        files.write_file("a/b.txt", "")
        with self.assertRaisesRegex(OSError, "use list_directory"):
            files.read_file("a")
        with self.assertRaisesRegex(OSError, "use read_file"):
            files.list_directory("a/b.txt")

    def test_only_text_and_bytes_are_written(self):
        with self.assertRaisesRegex(TypeError, "json.dumps"):
            files.write_file("a.json", {"a": 1})

    def test_trees_beside_the_workspace_resolve_unless_the_workspace_has_them(self):
        self.assertEqual(files.resolve("servers/crm"), "/servers/crm")
        self.assertEqual(files.resolve("./skills/x.py"), "/skills/x.py")
        files.write_file("servers/crm", "")
        self.assertEqual(files.resolve("servers/crm"), "servers/crm")


class ImportsFromTrees(InAWorkspace):
    def setUp(self):
        super().setUp()
        files.write_file("servers/google-drive/getDocument.py", "raise SystemError('never executed')")
        files.write_file("skills/adder.py", "def add(a, b):\n    return a + b, read_file\n")
        kept = trees.SERVERS, trees.SKILLS
        trees.SERVERS, trees.SKILLS = self.root + "/servers", self.root + "/skills"
        finder = trees.TreeFinder()
        sys.meta_path.insert(0, finder)
        self.addCleanup(self._forget, finder, kept)

    @staticmethod
    def _forget(finder, kept):
        trees.SERVERS, trees.SKILLS = kept
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.split(".")[0] in ("servers", "skills")]:
            del sys.modules[name]

    def test_a_tool_is_found_in_any_spelling(self):
        from servers.google_drive import get_document, getDocument
        from servers.google_drive.get_document import getDocument as again

        for function in (getDocument, get_document, again):
            call = function(documentId="1")
            self.assertEqual(call.tool, "google-drive.getDocument")
            call.close()

    def test_a_wrong_server_is_answered_with_a_near_one(self):
        with self.assertRaisesRegex(ModuleNotFoundError, "did you mean 'servers.google_drive'"):
            __import__("servers.gogle_drive")

    def test_a_skill_finds_the_same_names_as_a_program(self):
        from skills.adder import add

        self.assertEqual(add(1, 2), (3, files.read_file))


class MissingModules(unittest.TestCase):
    def test_the_message_says_what_to_do(self):
        finder = missing.ExplainingFinder({"json", "csv", "os", "os.path"})
        for name, expected in (
            ("requests", "no network in the sandbox; call a tool with callMCPTool"),
            ("numpy.linalg", "use csv, sqlite3"),
            ("jsn", "did you mean 'json'?"),
            ("JSON", "did you mean 'json'?"),
            ("unheard_of", "the sandbox has the standard library and dateutil"),
        ):
            self.assertIn(expected, finder.message(name))
            self.assertTrue(finder.message(name).startswith(f"No module named '{name}'"))


if __name__ == "__main__":
    unittest.main()
