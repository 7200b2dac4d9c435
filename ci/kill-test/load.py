"""What a gateway is given to do until it is killed: several writers, each with one request under way.

Every writer notes what it sends before it sends it, and what was acknowledged when the answer is there.
"""

import base64
import hashlib
import json
import threading
import time
from collections import Counter

from gateway import Ended, NodeLost, Refused
from ledger import Version

# Kinds of things, as the table names them.
FILE = "file, by write_workspace_file"
PROGRAM_FILE = "file, by a program"
LEFT_FILE = "file, left behind without a session"
STATE = "state value"
SKILL = "skill"
SKILL_VERSION = "version of a skill"
EXECUTION = "execution"
VARIABLES = "program with kept variables"
RESULT = "result of a program, by its handle"
OUTPUT = "output of a program, by its handle"
RAN_AGAIN = "execution, ran again on another node"
NODE_LOST = "execution, ended with its node"
ANALYSIS = "output of an analysis, by its handle"

# What an answer says of a program whose node was lost.
RUNS_AGAIN = "was lost; the program had changed nothing"

# Two sessions with files and state, and one whose interpreter stays.
SESSIONS = ("kill-test-a", "kill-test-b")
KEEPING_SESSION = "kill-test-variables"
SKILLS = ("kill_test_first", "kill_test_second", "kill_test_third")
FILES_PER_SESSION = 3
# Each may become a session of its own, and an owner has 500 at most.
LEFT_PER_GATEWAY, LEFT_MAX = 2, 400

# Far less than a result takes.
ANSWER_TOKENS = 200
# Rows that an analysis leaves out, so that what it gives is not what it got.
ROWS_LEFT_OUT = 10

JOIN_SECONDS_MAX = 90


def content(number):
    """A file's text: whole lines that all say the same, up to 36 KB, so that half a file shows."""
    return f"{number:08d}\n" * (1 + number * 7919 % 4000)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def skill_code(number):
    filler = f"# {number:08d}\n" * (number * 7919 % 500)
    return f'"""Says its number."""\n\n\ndef value():\n    return {number}\n\n\n{filler}'


def rows(number):
    """A table: 150 rows and more, up to 25 KB."""
    return [{"number": number, "at": at} for at in range(150 + number * 7919 % 800)]


def result_text(number):
    """What is kept of a program's result: its JSON without spaces."""
    return json.dumps(rows(number), separators=(",", ":"))


def output_text(number):
    return f"{number:08d}\n" * len(rows(number))


def analysis_text(number):
    """What is kept of an analysis: a row in each line."""
    lines = [json.dumps(row, separators=(",", ":")) for row in rows(number)[ROWS_LEFT_OUT:]]
    return "[" + ",\n".join(lines) + "]"


def large_program(number):
    """Prints and gives more than its answer shows."""
    count = len(rows(number))
    return f"""
print({output_text(number)[:9]!r} * {count}, end="")
result = [{{"number": {number}, "at": at}} for at in range({count})]
"""


class Load:
    """All writers on one gateway, until it ends. Programs run there, or on `nodes`."""

    def __init__(self, gateway, ledger, nodes=None):
        self.gateway, self.ledger, self.nodes = gateway, ledger, nodes
        self.problems = []
        writers = [self.keep_variables, self.run_plain_programs, self.leave_files, self.keep_results]
        for name in SKILLS:
            writers.append(lambda name=name: self.save_skill(name))
        for session in SESSIONS:
            writers.append(lambda session=session: self.run_programs(session))
            writers.append(lambda session=session: self.write_files(session))
        self.threads = [threading.Thread(target=self.repeat, args=(writer,), daemon=True) for writer in writers]
        for thread in self.threads:
            thread.start()

    def repeat(self, writer):
        try:
            for _ in writer():
                pass
        except Ended:
            pass
        except Exception as problem:
            self.problems.append(problem)

    def join(self):
        """When the gateway has ended. Raises what went wrong before."""
        for thread in self.threads:
            thread.join(JOIN_SECONDS_MAX)
            if thread.is_alive():
                raise Refused("a writer still waits for a gateway that has ended")
        if self.problems:
            raise self.problems[0]

    def execute(self, number, code, **arguments):
        """Runs a program; its mark is in the first line, by which history is searched."""
        mark, sent = f"kill-test-{number:08d}", time.monotonic()
        try:
            answer = self.gateway.call("execute_code", code=f"# {mark}\n{code}", **arguments)
        except NodeLost as lost:
            self.lose_its_node(NODE_LOST, sent, str(lost))
            raise
        self.ledger.executions.append(mark)
        self.ledger.count(EXECUTION, "acknowledged")
        if any(RUNS_AGAIN in note for note in answer.get("notes", [])):
            self.lose_its_node(RAN_AGAIN, sent, json.dumps(answer))
        return answer

    def lose_its_node(self, kind, sent, said):
        if self.nodes is None or not self.nodes.may_have_lost(sent):
            raise Refused(f"no node was killed, and yet: {said[:1000]}")
        self.ledger.count(kind, "acknowledged")

    def run_programs(self, session):
        """A file, replaced as programs do it, and a state value."""
        while True:
            number = next(self.ledger.sequence)
            file = self.ledger.slot(PROGRAM_FILE, (session, "program.txt"))
            value = self.ledger.slot(STATE, (session, "number"))
            text = content(number)
            code = f"""
import os
with open("program.txt.new", "w") as file:
    file.write({text[:9]!r} * {len(text) // 9})
os.replace("program.txt.new", "program.txt")
state["number"] = {{"number": {number}}}
result = {number}
"""
            file.send(digest(text))
            value.send({"number": number})
            try:
                result = self.execute(number, code, session=session)["result"]
            except NodeLost:
                # Only what has changed the state ends like this. The files are as they were before it.
                file.take_back()
                value.leave_open()
                yield
                continue
            if result != number:
                raise Refused(f"a program in {session} gave another result than its own")
            self.ledger.acknowledge(file)
            self.ledger.acknowledge(value)
            yield

    def write_files(self, session):
        while True:
            for index in range(FILES_PER_SESSION):
                number = next(self.ledger.sequence)
                path = f"notes/file-{index}.txt"
                slot = self.ledger.slot(FILE, (session, path))
                text = content(number)
                slot.send(digest(text))
                if index == 0:
                    encoded = base64.b64encode(text.encode()).decode()
                    arguments = {"content": encoded, "encoding": "base64"}
                else:
                    arguments = {"content": text}
                self.gateway.call("write_workspace_file", session=session, path=path, **arguments)
                self.ledger.acknowledge(slot)
                yield

    def save_skill(self, name):
        while True:
            number = next(self.ledger.sequence)
            slot, code = self.ledger.slot(SKILL, name), skill_code(number)
            slot.send(code)
            saved = self.gateway.call("save_skill", name=name, code=code)
            if saved["status"] != "ok":
                raise Refused(f"{name} is this agent's own skill, yet saving it is {saved['status']}: {saved}")
            self.ledger.acknowledge(slot)
            self.ledger.versions.append(Version(name, saved["version"], code))
            self.ledger.count(SKILL_VERSION, "acknowledged")
            yield

    def keep_variables(self):
        """An interpreter that stays counts on; it does not outlive its gateway."""
        expected = 0
        while True:
            code = "try:\n    counted += 1\nexcept NameError:\n    counted = 1\nresult = counted\n"
            number = next(self.ledger.sequence)
            counted = self.execute(number, code, session=KEEPING_SESSION, keep_variables=True)["result"]
            expected += 1
            if counted != expected:
                raise Refused(f"kept variables counted to {counted}, not to {expected}")
            self.ledger.count(VARIABLES, "acknowledged")
            self.ledger.count(VARIABLES, "found")
            yield

    def run_plain_programs(self):
        while True:
            number = next(self.ledger.sequence)
            if self.execute(number, f"result = {number} + 1")["result"] != number + 1:
                raise Refused("a plain program gave another result than its own")
            yield

    def keep_results(self):
        """One writer for both kinds of what is larger than its answer: two would leave the others little."""
        while True:
            number = next(self.ledger.sequence)
            # The kind that fewer answers were heard of, so that there is always enough of both.
            heard = Counter(kept.kind for kept in self.ledger.results)
            if heard[RESULT] <= heard[ANALYSIS]:
                self.run_large_program(number)
            else:
                self.analyse(number)
            yield

    def run_large_program(self, number):
        result = self.ledger.send_result(RESULT, number, digest(result_text(number)))
        output = self.ledger.send_result(OUTPUT, number, digest(output_text(number)))
        answer = self.execute(number, large_program(number), max_output_tokens=ANSWER_TOKENS)
        self.ledger.acknowledge_result(result, f"{handle_in(answer, 'result_handle')}.json")
        self.ledger.acknowledge_result(output, f"{handle_in(answer, 'output_handle')}.txt")

    def analyse(self, number):
        kept = self.ledger.send_result(ANALYSIS, number, digest(analysis_text(number)))
        steps = [{"filter": {"field": "at", "operator": ">=", "value": ROWS_LEFT_OUT}}]
        arguments = {"data": rows(number), "steps": steps, "max_output_tokens": ANSWER_TOKENS}
        answer = self.gateway.call("execute_analysis", **arguments)
        self.ledger.acknowledge_result(kept, f"{handle_in(answer, 'result_handle')}.json")

    def leave_files(self):
        """What is left behind becomes a session: the connection's, or one more if that is in use."""
        connection = None
        for _ in range(LEFT_PER_GATEWAY):
            if len(self.ledger.of_kind(LEFT_FILE)) >= LEFT_MAX:
                return
            number = next(self.ledger.sequence)
            name, text = f"left-{number}.txt", content(number)
            code = f"""
with open({name!r}, "w") as file:
    file.write({text[:9]!r} * {len(text) // 9})
"""
            handle = self.execute(number, code).get("session", connection)
            if handle is None:
                raise Refused("what a program left behind has no session")
            connection = connection or handle
            slot = self.ledger.slot(LEFT_FILE, (handle, name))
            slot.send(digest(text))
            self.ledger.acknowledge(slot)
            yield


def handle_in(answer, name):
    """Under which the rest is kept."""
    if name not in answer:
        raise Refused(f"an answer that leaves something out names no {name}: {json.dumps(answer)[:2000]}")
    return answer[name]
