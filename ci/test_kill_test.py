"""What the kill test judges by, on made-up values."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "kill-test"))

from ledger import Loss, Slot


class Slots(unittest.TestCase):
    def check(self, slot, *possible):
        for value in (None, 1, 2, 3, 4):
            copy = Slot("number", "n")
            copy.sure, copy.under_way, copy.open = slot.sure, slot.under_way, list(slot.open)
            if value in possible:
                copy.find(value)
                self.assertEqual((copy.sure, copy.under_way, copy.open), (value, None, []))
            else:
                self.assertRaises(Loss, copy.find, value)

    def slot(self, *, sure=None, under_way=None):
        slot = Slot("number", "n")
        if sure is not None:
            slot.send(sure)
            slot.acknowledge()
        if under_way is not None:
            slot.send(under_way)
        return slot

    def test_what_was_acknowledged_or_is_under_way_may_be_found(self):
        self.check(self.slot(), None)
        self.check(self.slot(sure=1), 1)
        self.check(self.slot(sure=1, under_way=2), 1, 2)

    def test_what_was_taken_back_may_not_be_found(self):
        slot = self.slot(sure=1, under_way=2)
        slot.take_back()
        self.check(slot, 1)

    def test_what_was_left_open_may_be_found_until_something_later_is_acknowledged(self):
        slot = self.slot(sure=1, under_way=2)
        slot.leave_open()
        slot.send(3)
        self.check(slot, 1, 2, 3)
        slot.acknowledge()
        self.check(slot, 3)


if __name__ == "__main__":
    unittest.main()
