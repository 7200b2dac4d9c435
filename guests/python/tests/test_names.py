import pathlib
import re
import unittest

from gristmill_guest import names

RULES = pathlib.Path(__file__).parents[3] / "crates" / "domain" / "src" / "catalogue" / "names.rs"


class Identifiers(unittest.TestCase):
    def test_names_become_identifiers_of_both_languages(self):
        for name, expected in (
            ("getDocument", "getDocument"),
            ("get-document", "get_document"),
            ("API-post-search", "API_post_search"),
            ("browser.click", "browser_click"),
            ("2fa", "_2fa"),
            ("import", "import_"),
            ("delete", "delete_"),
            ("yield", "yield_"),
            ("__init__", "_init__"),
            ("___x", "_x"),
            ("_private", "_private"),
            ("Straße", "Stra_e"),
            ("٣x", "_x"),
            ("", "_"),
            ("a" * 200, "a" * 100),
        ):
            with self.subTest(name=name):
                self.assertEqual(names.identifier(name), expected)
                self.assertTrue(names.identifier(name).isidentifier())

    def test_the_reserved_words_are_those_of_the_gateway(self):
        text = RULES.read_text("utf-8")
        lists = re.findall(r"const RESERVED\w*: \[&str; \d+\] = \[(.*?)\];", text, re.S)
        self.assertEqual(len(lists), 2)
        self.assertEqual(names.RESERVED, set(re.findall(r'"(\w+)"', "".join(lists))))


class Spellings(unittest.TestCase):
    def test_any_spelling_matches(self):
        known = ["get-document", "import", "2fa", "Stra_e"]
        for name, expected in (
            ("get-document", "get-document"),
            ("getDocument", "get-document"),
            ("GET_DOCUMENT_", "get-document"),
            ("import_", "import"),
            ("_2fa", "2fa"),
            ("Straße", "Stra_e"),
            ("getDocuments", None),
            ("", None),
            ("---", None),
        ):
            with self.subTest(name=name):
                self.assertEqual(names.matching(name, known), expected)

    def test_the_exact_spelling_wins(self):
        known = ["Get-it", "get-it", "getIt", "get_It"]
        for name in known:
            self.assertEqual(names.matching(name, known), name)
        self.assertEqual(names.matching("get_it", known), "get-it")


if __name__ == "__main__":
    unittest.main()
