"""After a kill: everything that was acknowledged is there and whole, as the next gateway shows it.

Nothing is repaired by hand in between. Files, state and skills are looked at through the gateway's own
tools. Finished executions are read out of its database while it runs, which is quicker than a command for
each look; so `gristmill history` and `show` are not tried here. The data folder is looked into for what must
not lie there, at the very end.
"""

import os
import time

import check_places
import check_results
from gateway import Refused
from ledger import Loss
from load import EXECUTION, FILE, KEEPING_SESSION, LEFT_FILE, PROGRAM_FILE, SESSIONS
from load import SKILL, SKILL_VERSION, SKILLS, STATE

# Versions of a skill that are looked at again at the very end; older ones may have made room.
LAST_VERSIONS = 20
# As many as the gateway keeps, acknowledged or not.
VERSIONS_KEPT = 50

EVERYTHING = """
import hashlib, os
files = {}
for folder, _, names in os.walk("/workspace"):
    for name in names:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            files[os.path.relpath(path, "/workspace")] = hashlib.sha256(file.read()).hexdigest()
result = {"files": files, "state": dict(state)}
"""

# What programs of the load leave half-made, too.
WRITE = """
with open("program.txt.new", "w") as file:
    file.write("new")
"""

IMPORTS = """
import importlib
result = {}
for name in names:
    try:
        result[name] = importlib.import_module(f"skills.{name}").value()
    except ImportError:
        result[name] = None
"""


def check(home, gateway, ledger):
    """What was acknowledged since the last check, and what is there all the time."""
    for session in SESSIONS:
        check_session(gateway, ledger, session, [FILE, PROGRAM_FILE])
    for session in {slot.name[0] for slot in ledger.of_kind(LEFT_FILE)} - ledger.left_found:
        check_session(gateway, ledger, session, [LEFT_FILE])
        ledger.left_found.add(session)
    check_skills(gateway, ledger, ledger.versions[ledger.versions_found :])
    ledger.count(SKILL_VERSION, "found", len(ledger.versions) - ledger.versions_found)
    ledger.versions_found = len(ledger.versions)
    check_executions(home, ledger.executions[ledger.executions_found :])
    ledger.count(EXECUTION, "found", len(ledger.executions) - ledger.executions_found)
    ledger.executions_found = len(ledger.executions)
    check_results.check(home, gateway, ledger)
    check_leftovers(home)


def check_everything(home, gateway, ledger):
    """At the very end: also what earlier checks have seen."""
    ledger.left_found.clear()
    check(home, gateway, ledger)
    check_skills(gateway, ledger, [one for name in SKILLS for one in last_versions(gateway, ledger, name)])
    check_executions(home, ledger.executions)
    check_results.check_everything(home, gateway, ledger)
    if home.node_names:
        check_arrivals(home, gateway)


def check_session(gateway, ledger, session, kinds):
    try:
        answer = gateway.call("execute_code", code=EVERYTHING, session=session, max_output_tokens=50_000)
    except Refused as refused:
        raise Loss(f"the session {session} cannot be used: {refused}") from refused
    files, state = answer["result"]["files"], answer["result"]["state"]
    for slot in [slot for kind in kinds for slot in ledger.of_kind(kind) if slot.name[0] == session]:
        ledger.find(slot, files.pop(slot.name[1], None))
    for slot in [slot for slot in ledger.of_kind(STATE) if slot.name[0] == session]:
        ledger.find(slot, state.pop(slot.name[1], None))
    # A program that was killed in the middle leaves its own half-made file; the gateway may leave none.
    left = [path for path in files if path != "program.txt.new" and not path.startswith("left-")]
    if left or state:
        raise Loss(f"{session} holds what nobody put there: {left} {state}")


def check_skills(gateway, ledger, versions):
    found = gateway.call("execute_code", code=IMPORTS, context={"names": SKILLS})["result"]
    for name in SKILLS:
        slot = ledger.slot(SKILL, name)
        code = load_skill(gateway, name) if found[name] is not None or slot.sure is not None else None
        ledger.find(slot, code)
        if code is not None and f"return {found[name]}\n" not in code:
            raise Loss(f"programs import another {name} ({found[name]}) than load_skill shows: {code[:200]}")
    for one in versions:
        code = load_skill(gateway, one.skill, version=one.number)
        if code != one.code:
            raise Loss(f"version {one.number} of {one.skill} was {one.code[:200]!r}, is {(code or '')[:200]!r}")


def last_versions(gateway, ledger, name):
    """Those that were acknowledged last, without what later ones have taken the place of: where many are killed,
    most versions are saved without being acknowledged."""
    acknowledged = [one for one in ledger.versions if one.skill == name][-LAST_VERSIONS:]
    if not acknowledged:
        return []
    newest = gateway.call("load_skill", name=name)["version"]
    return [one for one in acknowledged if one.number > newest - VERSIONS_KEPT]


def load_skill(gateway, name, **version):
    """Its code; nothing if there is no such skill or version."""
    try:
        return gateway.call("load_skill", name=name, **version)["code"]
    except Refused:
        return None


def check_executions(home, marks):
    """By the mark in the first line of each program."""
    recorded, running = recorded_executions(home)
    # What the gateway that runs now has just done is in the database a moment later.
    for _ in range(20):
        if running:
            time.sleep(0.05)
            _, running = recorded_executions(home)
    lost = [mark for mark in marks if recorded.get(mark) != "ok"]
    if lost:
        raise Loss(f"{len(lost)} finished executions are not in the history as such: {lost[:5]}")
    if running:
        raise Loss(f"{running} executions of killed gateways are said to be running")


def recorded_executions(home):
    """{mark: outcome} of all programs under load, and how many executions are said to run."""
    database = home.database()
    try:
        marked = "SELECT substr(code, 3, 18), outcome FROM executions JOIN programs ON hash = program"
        recorded = dict(database.execute(f"{marked} WHERE code LIKE '# kill-test-%'"))
        [(running,)] = database.execute("SELECT count(*) FROM executions WHERE outcome = 'running'")
    finally:
        database.close()
    return recorded, running


def check_leftovers(home):
    folders = home.scratch_folders()
    if len(folders) > 1:
        raise Loss(f"scratch folders of killed gateways pile up: {folders}")


def check_arrivals(home, gateway):
    """What killed gateways were taking in from nodes goes with the next program whose files come back."""
    for session in SESSIONS:
        gateway.call("execute_code", code=WRITE, session=session)
    if left := sorted(str(path.relative_to(home.data)) for path in home.data.glob("sessions/*/.arriving-*")):
        raise Loss(f"what killed gateways were taking in from nodes is still there: {left[:5]}")


def check_audit(home):
    """A chain that is whole, with one final event for each execution that began."""
    home.command("audit", "verify")
    events = home.audit_events()
    begun = [event["execution"] for event in events if event["kind"] == "execution.begun"]
    ended = [event["execution"] for event in events if event["kind"] == "execution.ended"]
    if sorted(begun) != sorted(ended) or not begun:
        both = set(begun) ^ set(ended)
        raise Loss(f"{len(begun)} executions began and have {len(ended)} final events: {sorted(both)[:5]}")


def check_data_folder(home, ledger):
    """When no gateway runs: a database that is whole, and a folder for each session and none besides."""
    home.command("db", "check")
    check_audit(home)
    check_places.check(home)
    database = home.database()
    try:
        known = dict(database.execute("SELECT id, name FROM sessions"))
    finally:
        database.close()
    folders = {path.name: path for path in (home.data / "sessions").iterdir()}
    # What was being made when its gateway was killed is let go of when it is old enough.
    for name in folders.keys() - known.keys():
        os.utime(folders[name], (0, 0))
    home.command("sessions", "gc")
    there = {path.name for path in (home.data / "sessions").iterdir()}
    if there != known.keys():
        raise Loss(f"sessions and their folders differ: {sorted(there ^ known.keys())}")
    named = {name for name in known.values() if name is not None}
    left = {slot.name[0] for slot in ledger.of_kind(LEFT_FILE)}
    if named != {*SESSIONS, KEEPING_SESSION} or left - known.keys():
        missing = sorted(left - known.keys())
        raise Loss(f"not the sessions that were used: {sorted(named)}, and without {missing}")
