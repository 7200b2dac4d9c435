"""What callers ask for: programs of six kinds, each with what its answer must be."""

import hashlib
import itertools
from dataclasses import dataclass, field

NODE_LOST = "GM-4004"
MODULUS = 1_000_003
# Far less than what is printed takes.
ANSWER_TOKENS = 200


@dataclass
class Job:
    kind: str
    code: str
    arguments: dict = field(default_factory=dict)
    # What its result must be; a session's count is judged by itself.
    result: object = None
    # What it must have printed, all in all.
    output: str | None = None
    booking: str | None = None
    session: str | None = None
    is_followed: bool = False


class Jobs:
    """All jobs of one run, each with numbers of its own."""

    def __init__(self, chance):
        self.chance, self.numbers = chance, itertools.count(1)

    def computing(self, _):
        count = self.chance.randrange(20_000, 80_000)
        total = 0
        for number in range(count):
            total = (total * 31 + number) % MODULUS
        code = f"""
total = 0
for number in range({count}):
    total = (total * 31 + number) % {MODULUS}
result = total
"""
        return Job("computing", code, result=total)

    def printing(self, _):
        mark, lines = next(self.numbers), self.chance.randrange(2_000, 6_000)
        output = "".join(f"{mark} printed {line}\n" for line in range(lines))
        code = f"""
import time
for line in range({lines}):
    if line % 1000 == 999:
        time.sleep(0.1)
    print({mark}, "printed", line)
result = {lines}
"""
        arguments = {"max_output_tokens": ANSWER_TOKENS}
        return Job("printing", code, arguments, result=lines, output=output)

    def reading(self, _):
        mark, looks = f"look-{next(self.numbers)}", self.chance.randrange(3, 8)
        code = f"""
import asyncio
from servers.desk import look
seen = []
for at in range({looks}):
    answer = await look(id=f"{mark}-{{at}}")
    seen.append(answer["id"])
    await asyncio.sleep(0.2)
result = seen
"""
        return Job("reading", code, result=[f"{mark}-{at}" for at in range(looks)])

    def booking(self, _):
        """Some book at once and go on for long, others the other way round."""
        booking = f"book-{next(self.numbers)}"
        before, after = self.chance.choice([(0.0, 1.5), (0.3, 0.3), (1.5, 0.0), (0.8, 0.8)])
        code = f"""
import time
from servers.desk import look, book
await look(id="{booking}-look")
time.sleep({before})
answer = await book(id="{booking}")
print("booked")
time.sleep({after})
result = answer["id"]
"""
        return Job("booking", code, result=booking, booking=booking)

    def counting(self, caller):
        """Beside the count it leaves a large file, which takes a while on its way back."""
        session, large = f"counts-{caller}", self.chance.choice([0, 200_000, 2_000_000])
        code = f"""
import os, time
try:
    count = int(open("count.txt").read())
except FileNotFoundError:
    count = 0
time.sleep({self.chance.uniform(0, 0.4):.2f})
with open("large.bin", "wb") as file:
    file.write(os.urandom({large}))
with open("count.txt", "w") as file:
    file.write(str(count + 1))
result = count + 1
"""
        return Job("counting", code, session=session)

    def followed(self, _):
        mark, lines = next(self.numbers), self.chance.randrange(5, 12)
        output = "".join(f"{mark} said {line}\n" for line in range(lines))
        code = f"""
import time
for line in range({lines}):
    print({mark}, "said", line)
    time.sleep(0.2)
result = {lines}
"""
        return Job("followed", code, {"background": True}, result=lines, output=output, is_followed=True)


KINDS = (Jobs.computing, Jobs.printing, Jobs.reading, Jobs.booking, Jobs.counting, Jobs.followed)
KIND_NAMES = tuple(make.__name__ for make in KINDS)

COUNT = """
try:
    result = int(open("count.txt").read())
except FileNotFoundError:
    result = 0
"""


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()
