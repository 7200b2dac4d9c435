"""What callers ask of gateways that share a state: tasks of four kinds, each with what its answer must be."""

import hashlib
import json
from dataclasses import dataclass

from jobs import ANSWER_TOKENS, Job, Jobs, digest

LARGE_BYTES = (0, 200_000, 2_000_000)
# Each leaves more than its answer shows.
ROWS = (200, 4_000)


@dataclass
class Task(Job):
    # What must be under the handle that the answer names, as a digest, and the name of that field.
    stores: str | None = None
    handle: str = "result_handle"
    # Results that were acknowledged before, and are read back: {file: digest}.
    reads: dict | None = None


class Tasks(Jobs):
    """Of one caller."""

    def counting(self, caller):
        """A count in a file and one in the state, and a large file that the next program finds as this one left it."""
        code = f"""
import hashlib, os, time
def read(name):
    try:
        with open(name, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""
count, number = int(read("count.txt") or 0), state.get("n", 0)
found = hashlib.sha256(read("large.bin")).hexdigest()
time.sleep({self.chance.uniform(0, 0.4):.2f})
large = os.urandom({self.chance.choice(LARGE_BYTES)})
with open("large.bin", "wb") as file:
    file.write(large)
with open("count.txt", "w") as file:
    file.write(str(count + 1))
state["n"] = number + 1
result = {{"file": count + 1, "state": number + 1, "found": found, "left": hashlib.sha256(large).hexdigest()}}
"""
        return Task("counting", code, session=f"counts-{caller}")

    def booking(self, caller):
        return task(super().booking(caller))

    def computing(self, caller):
        """Some print more than an answer shows."""
        if self.chance.random() < 0.7:
            return task(super().computing(caller))
        job = self.printing(caller)
        return task(job, kind="computing", output=None, stores=digest(job.output), handle="output_handle")

    def storing(self, kept):
        """As often as not, what was stored before is read back."""
        if kept and self.chance.random() < 0.5:
            return reading(dict(self.chance.sample(sorted(kept.items()), min(len(kept), 3))))
        mark, count = next(self.numbers), self.chance.randrange(*ROWS)
        code = f'result = [{{"mark": {mark}, "at": at}} for at in range({count})]'
        text = json.dumps([{"mark": mark, "at": at} for at in range(count)], separators=(",", ":"))
        return Task("storing", code, {"max_output_tokens": ANSWER_TOKENS}, stores=digest(text))


def task(job, **changes):
    return Task(**{**vars(job), **changes})


def reading(kept):
    """Every byte of what was stored: what is wrong with which file."""
    code = """
import hashlib
result = {}
for name, digest in kept.items():
    try:
        with open(f"/results/{name}", "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        found = str(error)
    if found != digest:
        result[name] = found
"""
    return Task("storing", code, {"context": {"kept": kept}, "max_output_tokens": 20_000}, result={}, reads=kept)


KINDS = ("counting", "booking", "computing", "storing")

COUNTS = """
try:
    count = int(open("count.txt").read())
except FileNotFoundError:
    count = 0
result = {"file": count, "state": state.get("n", 0)}
"""
# As a file that isn't there is read.
NOTHING = hashlib.sha256(b"").hexdigest()
