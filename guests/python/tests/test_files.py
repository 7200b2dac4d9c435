import os
import unittest

from gristmill_guest import files, missing
from tests.places import InAWorkspace


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


class Results(InAWorkspace):
    """`/results` lies in the workspace here, and is as the sandbox has it: not to be listed."""

    def setUp(self):
        super().setUp()

        def listdir(path):
            raise PermissionError(1, "Operation not permitted", path)

        for name, value in (("RESULTS", self.root + "/results"), ("_listdir", listdir)):
            self.addCleanup(setattr, files, name, getattr(files, name))
            setattr(files, name, value)
        os.mkdir("results")

    def test_the_folder_is_not_listed_but_a_file_is_read(self):
        with open("results/abc.json", "w") as file:
            file.write("[1]")
        self.assertEqual(files.read_file(self.root + "/results/abc.json"), "[1]")
        for path in (self.root + "/results", self.root + "/results/"):
            with self.assertRaisesRegex(PermissionError, "by the handle from an answer"):
                files.list_directory(path)
        with self.assertRaisesRegex(PermissionError, "Operation not permitted"):
            files.list_directory(self.root)

    def test_a_result_that_is_gone_is_no_missing_folder(self):
        with self.assertRaisesRegex(FileNotFoundError, "no such result: check the handle"):
            files.read_file(self.root + "/results/gone.json")


class MissingModules(unittest.TestCase):
    def test_the_message_says_what_to_do(self):
        finder = missing.ExplainingFinder({"json", "csv", "os", "os.path"})
        for name, expected in (
            ("requests", "the sandbox has no network; call a tool with callMCPTool"),
            ("numpy.linalg", "await analyze"),
            ("jsn", "did you mean 'json'?"),
            ("JSON", "did you mean 'json'?"),
            ("unheard_of", "the sandbox has the standard library and dateutil"),
            ("unheard_of", "pure Python: `gristmill python add --wasm unheard_of`"),
        ):
            self.assertIn(expected, finder.message(name))
            self.assertTrue(finder.message(name).startswith(f"No module named '{name}'"))


if __name__ == "__main__":
    unittest.main()
