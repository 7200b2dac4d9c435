"""After a kill: what answers have named a handle of is there, byte for byte, and nothing besides.

Results are read as programs, agents and people read them: out of `/results`, by `read_result`, and by
`gristmill results get`. The folder and the database are compared for what has only a file or only a row.
"""

import hashlib
import os

from gateway import Refused
from ledger import Loss
from load import ANSWER_TOKENS, RESULT, digest, handle_in, large_program, rows

INCOMING = "file of a result, on its way in"

# As many as go along with a program to a node.
READ_AT_ONCE = 32
# Of all results at the very end: those read by a command each.
READ_BY_COMMAND = 5
# Rows at the end of a result, for `read_result`.
LAST_ROWS = 3

READ = """
import hashlib
result = []
for name, digest in digests.items():
    try:
        with open(f"/results/{name}", "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        found = str(error)
    if found != digest:
        result.append([name, found])
"""


def let_time_pass(home, ledger):
    """After a kill. What was on its way in is let go of by the next start if it is old enough."""
    for path in (home.data / "results" / "incoming").glob("*"):
        if path.stat().st_mtime != 0:
            os.utime(path, (0, 0))
            ledger.count(INCOMING, "under way")


def check(home, gateway, ledger):
    """What was acknowledged since the last check, and that files and rows fit together."""
    new = ledger.results[ledger.results_found :]
    check_content(gateway, new)
    if results := [kept for kept in new if kept.kind == RESULT]:
        check_last_rows(gateway, results[-1])
    for kept in new:
        ledger.count(kept.kind, "found")
    ledger.results_found = len(ledger.results)
    check_folder(home)


def check_everything(home, gateway, ledger):
    """At the very end: also what earlier checks have seen, and what was under way at a kill."""
    check_content(gateway, ledger.results)
    for kept in ledger.results[-READ_BY_COMMAND:]:
        if digest(home.command("results", "get", kept.handle())) != kept.digest:
            raise Loss(f"`gristmill results get` shows another {kept.kind}, of {kept.file_name}")
    check_same_handle(gateway, [kept for kept in ledger.results if kept.kind == RESULT][-1:])
    check_nothing_else(home, ledger)


def check_content(gateway, results):
    """By programs: every byte of every one."""
    for first in range(0, len(results), READ_AT_ONCE):
        read_content(gateway, results[first : first + READ_AT_ONCE])


def read_content(gateway, results):
    digests = {kept.file_name: kept.digest for kept in results}
    answer = gateway.call("execute_code", code=READ, context={"digests": digests}, max_output_tokens=50_000)
    if wrong := answer["result"]:
        kinds = sorted({kept.kind for kept in results if kept.file_name in dict(wrong)})
        raise Loss(f"{len(wrong)} of {len(digests)} results are gone or changed ({', '.join(kinds)}): {wrong[:5]}")


def check_last_rows(gateway, kept):
    """By `read_result`."""
    there = rows(kept.number)
    first = len(there) - LAST_ROWS
    try:
        part = gateway.call("read_result", handle=kept.handle(), offset=first, limit=LAST_ROWS)
    except Refused as refused:
        raise Loss(f"{kept.kind} {kept.file_name} cannot be read: {refused}") from refused
    if part["value"] != there[first:] or part["total"] != len(there):
        raise Loss(f"{kept.kind} {kept.file_name}: read_result shows {part}, not {there[first:]}")


def check_same_handle(gateway, results):
    """The same value again: a key of handles that is another one would give it another handle."""
    for kept in results:
        code = large_program(kept.number)
        answer = gateway.call("execute_code", code=code, max_output_tokens=ANSWER_TOKENS)
        again = handle_in(answer, "result_handle")
        if again != kept.handle():
            raise Loss(f"{kept.kind} {kept.file_name} has another handle when it comes again: {again}")


def check_folder(home):
    """A gateway that answers has tidied up: a file for each row, a row for each file, nothing on its way."""
    database = home.database()
    try:
        known = set(database.execute("SELECT file_name, bytes FROM results"))
    finally:
        database.close()
    there = {(path.name, path.lstat().st_size) for path in files(home)}
    if there != known:
        without_file, without_row = sorted(known - there), sorted(there - known)
        raise Loss(f"results without their files: {without_file[:5]}; without their rows: {without_row[:5]}")
    if left := sorted(path.name for path in (home.data / "results" / "incoming").iterdir()):
        raise Loss(f"what killed gateways were taking in is still there: {left[:5]}")


def check_nothing_else(home, ledger):
    """Every file is something whole that somebody made, whether its answer was heard or not."""
    there = {hashlib.sha256(path.read_bytes()).hexdigest(): path.name for path in files(home)}
    if foreign := sorted(there[one] for one in there.keys() - ledger.results_sent.keys()):
        raise Loss(f"results that nobody has made: {foreign[:5]}")
    for kept in ledger.results_sent.values():
        if kept.file_name is None:
            ledger.count(kept.kind, "under way")
            ledger.count(kept.kind, "of these done", kept.digest in there)


def files(home):
    """In the folders of owners."""
    folders = [path for path in (home.data / "results").iterdir() if path.is_dir() and path.name != "incoming"]
    return [path for folder in folders for path in folder.iterdir()]
