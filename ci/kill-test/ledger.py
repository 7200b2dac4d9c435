"""What gateways have acknowledged, and what may therefore be found after the next kill.

A slot is one thing that one writer replaces again and again, with at most one request under way. After a
kill it holds what was acknowledged last, or what was under way then; anything else is a loss.
"""

import itertools
import threading
from collections import Counter
from dataclasses import dataclass, field


class Loss(Exception):
    """Something that was acknowledged is not there, or not whole."""


class Slot:
    def __init__(self, kind, name):
        self.kind, self.name = kind, name
        self.sure, self.under_way = None, None
        # What was sent, and ended without anybody saying whether it was done.
        self.open = []

    def send(self, value):
        self.under_way = value

    def acknowledge(self):
        self.sure, self.under_way, self.open = self.under_way, None, []

    def take_back(self):
        """What was under way ended, and was not done."""
        self.under_way = None

    def leave_open(self):
        """What was under way ended, and may be done or not."""
        self.open.append(self.under_way)
        self.under_way = None

    def find(self, value):
        """Takes what was found for the truth, if it may be."""
        possible = [*self.open, *([] if self.under_way is None else [self.under_way])]
        if value != self.sure and value not in possible:
            later = "".join(f" or, not acknowledged, {shown(one)}" for one in possible)
            raise Loss(f"{self.kind} {self.name}: should be {shown(self.sure)}{later}; found {shown(value)}")
        self.sure, self.under_way, self.open = value, None, []


@dataclass
class Version:
    """A version of a skill that was acknowledged."""

    skill: str
    number: int
    code: str


@dataclass
class Kept:
    """A whole value of which an answer shows a part."""

    kind: str
    number: int
    digest: str
    # By the handle in the answer.
    file_name: str | None = None

    def handle(self):
        return self.file_name.partition(".")[0]


@dataclass
class Ledger:
    sequence: itertools.count = field(default_factory=lambda: itertools.count(1))
    slots: dict = field(default_factory=dict)
    versions: list = field(default_factory=list)
    executions: list = field(default_factory=list)
    # What programs and analyses were asked to make, by its digest; and what answers have named a handle of.
    results_sent: dict = field(default_factory=dict)
    results: list = field(default_factory=list)
    # How many of the three lists, and which sessions of files left behind, later starts have found.
    versions_found: int = 0
    executions_found: int = 0
    results_found: int = 0
    left_found: set = field(default_factory=set)
    counts: dict = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def slot(self, kind, name):
        with self.lock:
            return self.slots.setdefault((kind, name), Slot(kind, name))

    def of_kind(self, kind):
        with self.lock:
            return [slot for slot in self.slots.values() if slot.kind == kind]

    def count(self, kind, column, number=1):
        with self.lock:
            self.counts.setdefault(kind, Counter())[column] += number

    def acknowledge(self, slot):
        slot.acknowledge()
        self.count(slot.kind, "acknowledged")

    def send_result(self, kind, number, digest):
        kept = Kept(kind, number, digest)
        with self.lock:
            self.results_sent[digest] = kept
        return kept

    def acknowledge_result(self, kept, file_name):
        kept.file_name = file_name
        self.results.append(kept)
        self.count(kept.kind, "acknowledged")

    def find(self, slot, value):
        under_way = slot.under_way
        slot.find(value)
        self.count(slot.kind, "found")
        if under_way is not None:
            self.count(slot.kind, "under way")
            self.count(slot.kind, "of these done", value == under_way)

    def table(self):
        columns = ("acknowledged", "found", "under way", "of these done")
        widest = max(map(len, self.counts), default=0)
        lines = [" " * widest + "".join(f"  {column:>13}" for column in columns)]
        for kind, counts in sorted(self.counts.items()):
            # Not everything is followed while it is under way: no figure is not the figure 0.
            cells = [f"{counts[column]:,}" if column in counts else "-" for column in columns]
            lines.append(f"{kind:<{widest}}" + "".join(f"  {cell:>13}" for cell in cells))
        return "\n".join(lines)


def shown(value):
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 120 else f"{text[:120]}… ({len(text)} characters)"
