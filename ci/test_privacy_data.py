import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "privacy-data"))

from fetch import test_cases  # noqa: E402
from labels import CLONE, data_folder  # noqa: E402

TESTS = '''
import pytest
from somewhere import REAL_CARDS

@pytest.fixture(scope="module")
def entities():
    return ["CREDIT_CARD"]

@pytest.mark.parametrize(
    "text, expected_len, expected_positions, expected_scores",
    [
        # fmt: off
        ("paid by 4242 4242 4242 4242", 1, ((8, 27),), ((1, 1),)),
        ("4242", 0, (), ()),
        (REAL_CARDS[0], 1, ((0, 16),), ()),
        # fmt: on
    ],
)
def test_cards(text, expected_len, expected_positions, expected_scores, recognizer, entities):
    raise SystemExit("never run")

@pytest.mark.parametrize("text, expected_len", [("4242424242424242 twice", 1)])
def test_count(text, expected_len, recognizer, entities):
    pass

@pytest.mark.parametrize("text, expected_len, entities", [("Acme", 1, ["ORGANIZATION"])])
def test_others(text, expected_len, entities):
    pass
'''


class Cases(unittest.TestCase):
    def test_cases_are_read_without_running_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "test_card_recognizer.py"
            file.write_text(TESTS)
            cases = [(case["text"], case["spans"], case["kinds"]) for case in test_cases(file)]
        kind = "credit_card"
        self.assertEqual(
            cases,
            [
                ("paid by 4242 4242 4242 4242", [{"start": 8, "end": 27, "kind": kind}], [kind]),
                ("4242", [], [kind]),
                ("4242424242424242 twice", [{"kind": kind}], [kind]),
            ],
        )

    def test_data_never_goes_into_the_clone(self):
        with self.assertRaises(SystemExit):
            data_folder(str(CLONE / "data"))


if __name__ == "__main__":
    unittest.main()
