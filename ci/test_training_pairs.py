"""What the encoder learned from is well-formed, and isn't what search is measured with."""

import json
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAIRS = ROOT / "crates" / "encoder" / "training" / "pairs"
KEYS = {"server", "tool", "description", "args", "queries", "also"}


def read_pairs():
    for file in sorted(PAIRS.glob("*.jsonl")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{file.name}:{number}", json.loads(line)


def words(text):
    return frozenset(re.findall(r"\w+", text.lower()))


class TrainingPairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pairs = list(read_pairs())

    def test_each_line_is_a_tool_with_its_queries(self):
        self.assertGreater(len(self.pairs), 3_000)
        for place, pair in self.pairs:
            with self.subTest(place):
                self.assertEqual(set(pair), KEYS)
                self.assertTrue(pair["server"] and pair["tool"] and pair["queries"])
                self.assertTrue(all(query.strip() for query in pair["queries"]))

    def test_a_tool_comes_once_and_what_does_as_well_is_there(self):
        names = [(pair["server"], pair["tool"]) for _, pair in self.pairs]
        self.assertEqual(len(names), len(set(names)))
        others = {(pair["server"], other) for _, pair in self.pairs for other in pair["also"]}
        self.assertEqual(others - set(names), set())

    def test_no_query_is_one_that_search_is_measured_with(self):
        measured = {}
        for file in sorted((ROOT / "benches" / "search").glob("*.json")):
            measured.update({words(case["query"]): case["query"] for case in json.loads(file.read_text("utf-8"))})
        self.assertGreater(len(measured), 600)
        learned = {words(query): place for place, pair in self.pairs for query in pair["queries"]}
        both = {learned[query]: measured[query] for query in learned.keys() & measured.keys()}
        self.assertEqual(both, {})

    def test_no_definition_is_a_real_servers(self):
        real = set()
        for file in sorted((ROOT / "benches" / "tokens" / "catalogues").glob("*.json")):
            tools = json.loads(file.read_text("utf-8"))["tools"]
            real.update(words(tool["description"]) for tool in tools if tool.get("description"))
        self.assertGreater(len(real), 400)
        copied = [place for place, pair in self.pairs if words(pair["description"]) in real]
        self.assertEqual(copied, [])


if __name__ == "__main__":
    unittest.main()
