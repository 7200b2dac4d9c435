"""A check that cannot fail is no check: each kind of loss is brought about by hand, and must be noticed."""

import fcntl
import os
import shutil
import subprocess
import sys
import threading

import check
from gateway import Gateway
from ledger import Loss
from load import ANALYSIS, FILE, LEFT_FILE, OUTPUT, PROGRAM_FILE, RESULT, SESSIONS, SKILLS, STATE
from load import content, skill_code


def all_are_noticed(home, ledger, nodes=None):
    """The ledger is that of a run whose last gateway was closed: nothing is under way."""
    whole = home.folder / "whole"
    shutil.copytree(home.data, whole)
    if found := noticed(home, ledger, lambda: None):
        raise Loss(f"a loss is seen where there is none: {found}")
    losses = LOSSES if nodes is None else {**LOSSES, **LOSSES_WITH_NODES}
    for name, bring_about in losses.items():
        shutil.rmtree(home.data)
        shutil.copytree(whole, home.data)
        found = noticed(home, ledger, lambda: bring_about(home, ledger))
        if found is None:
            raise Loss(f"nobody notices: {name}")
        print(f"noticed: {name}: {found[:150]}", flush=True)
    if nodes is not None:
        what_is_left_of_nodes_is_noticed(nodes)


def what_is_left_of_nodes_is_noticed(nodes):
    """The nodes end, and a process of one of them doesn't."""
    process = subprocess.Popen(["sleep", "600"], env=nodes.nodes[0].variables, start_new_session=True)
    try:
        found = nodes.end()
    finally:
        process.kill()
        process.wait()
    if [one for one in found if str(process.pid) not in one] or not found:
        raise Loss(f"of the nodes only process {process.pid} is left, and what is noticed is {found}")
    print(f"noticed: a process of a node is left: {found}", flush=True)


def noticed(home, ledger, bring_about):
    """What the check says, if it says something."""
    undo = bring_about()
    gateway = Gateway(home)
    try:
        check.check_everything(home, gateway, ledger)
        gateway.close()
        home.wait_until_gone()
        check.check_data_folder(home, ledger)
    except Loss as loss:
        return str(loss)
    finally:
        if not gateway.has_ended():
            gateway.kill()
        gateway.settle()
        if undo is not None:
            undo()
        home.wait_until_gone()
    return None


def is_enough(ledger):
    """Whether there is something of everything to lose."""
    saved = [[one for one in ledger.versions if one.skill == name] for name in SKILLS]
    there = [acknowledged(ledger, kind) for kind in (FILE, PROGRAM_FILE, STATE, LEFT_FILE)]
    there += [kept_as(ledger, kind) for kind in (RESULT, OUTPUT, ANALYSIS)]
    return all(len(versions) > 1 for versions in saved) and all(there)


def acknowledged(ledger, kind):
    return [slot for slot in ledger.of_kind(kind) if slot.sure is not None]


def file_of(home, ledger, kind):
    """The path of an acknowledged file, by who wrote it."""
    session, name = acknowledged(ledger, kind)[0].name
    folder = home.data / "sessions" / session if kind == LEFT_FILE else home.session_folder(session)
    return folder / "workspace" / name


def remove_file(kind):
    return lambda home, ledger: file_of(home, ledger, kind).unlink()


def remove_version(home, ledger):
    """Of the first skill, the version before the last: the last one could be read out of its folder again."""
    name = SKILLS[0]
    number = [one.number for one in ledger.versions if one.skill == name][-2]
    in_database(f"DELETE FROM skill_versions WHERE name = '{name}' AND version = {number}")(home, ledger)


def keep_a_folder(home, ledger):
    # Held, as by a program that runs in it: nobody may remove it.
    folder = home.data / "sessions" / ("z" * 20)
    (folder / "workspace").mkdir(parents=True)
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock.close


def halve_file(home, ledger):
    path = file_of(home, ledger, FILE)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change_file(home, ledger):
    path = file_of(home, ledger, FILE)
    path.write_text(content(1))


def leave_a_half_made_file(home, ledger):
    (file_of(home, ledger, FILE).parent / "left-over.tmp").write_text("half")


def in_database(statement):
    def change(home, ledger):
        database = home.database("rw")
        # As the gateway has it: what belongs to a row goes with it, and is in nobody's way.
        database.execute("PRAGMA foreign_keys = ON")
        with database:
            if database.execute(statement).rowcount < 1:
                raise SystemExit(f"error: the self-test changes nothing with {statement!r}")
        database.close()

    return change


def remove_skill(home, ledger):
    shutil.rmtree(home.data / "skills" / SKILLS[0])


def change_skill(home, ledger):
    (home.data / "skills" / SKILLS[0] / f"{SKILLS[0]}.py").write_text(skill_code(1))


def kept_as(ledger, kind):
    return [kept for kept in ledger.results if kept.kind == kind]


def result_file(home, ledger, kind):
    [path] = (home.data / "results").glob(f"*/{kept_as(ledger, kind)[0].file_name}")
    return path


def remove_result(kind):
    return lambda home, ledger: result_file(home, ledger, kind).unlink()


def forget_result(kind):
    """The gateway then removes the file as well."""

    def forget(home, ledger):
        handle = kept_as(ledger, kind)[0].handle()
        in_database(f"DELETE FROM results WHERE handle = '{handle}'")(home, ledger)

    return forget


def change_result(kind):
    """One byte of it, which no size tells."""

    def change(home, ledger):
        path = result_file(home, ledger, kind)
        content = bytearray(path.read_bytes())
        content[-2] ^= 1
        path.write_bytes(content)

    return change


def halve_result(home, ledger):
    path = result_file(home, ledger, RESULT)
    os.truncate(path, path.stat().st_size // 2)


def pass_half_a_result_off(home, ledger):
    """As one that was under way: with a row of its own, which fits."""
    path, handle = result_file(home, ledger, RESULT), "z" * 20
    half = path.read_bytes()[: path.stat().st_size // 2]
    path.with_name(f"{handle}.json").write_bytes(half)
    insert_result(home, ledger, handle, f"{handle}.json", len(half))


def keep_a_row(home, ledger):
    # Its file has a name that nobody can look up, so that nobody can say that it is gone.
    insert_result(home, ledger, "z" * 20, "z" * 300, 1)


def insert_result(home, ledger, handle, file_name, size):
    columns = "kind, media_type, created_ms, used_ms, session, execution"
    row = f"SELECT owner, '{handle}', '{file_name}', {size}, {columns} FROM results LIMIT 1"
    in_database(f"INSERT INTO results (owner, handle, file_name, bytes, {columns}) {row}")(home, ledger)


def keep_a_stray(home, ledger):
    # Put back as often as it is removed.
    path, enough = result_file(home, ledger, RESULT).with_name("stray.json"), threading.Event()

    def put():
        while not enough.wait(0.005):
            path.touch()

    putting = threading.Thread(target=put, daemon=True)
    putting.start()

    def undo():
        enough.set()
        putting.join()
        path.unlink(missing_ok=True)

    return undo


def keep_what_came_in(home, ledger):
    # Held, as by an analysis that fills it: nobody may remove it.
    path = home.data / "results" / "incoming" / ("z" * 20)
    file = path.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    os.utime(path, (0, 0))
    return file.close


def leave_a_process(home, ledger):
    words = [sys.executable, "-c", "import time; time.sleep(600)", str(home.folder)]
    left = subprocess.Popen(words, stdin=subprocess.DEVNULL)

    def undo():
        left.kill()
        left.wait()

    return undo


def leave_scratch(home, ledger):
    # Locked, as by a gateway that does not go away: nobody may remove it.
    folder = home.scratch / "gateway-1-1"
    folder.mkdir()
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)

    def undo():
        lock.close()
        shutil.rmtree(folder)

    return undo


def keep_what_a_node_sent(home, ledger):
    # Held, as by a gateway that takes it in: nobody may remove it.
    folder = home.session_folder(SESSIONS[0]) / ".arriving-z"
    folder.mkdir()
    lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lambda: os.close(lock)


def run_programs_here(home, ledger):
    """Those of the check itself."""
    before = home.config.read_text()
    here = before.replace('run = "nodes"', 'run = "here"')
    if here == before:
        raise SystemExit("error: the self-test doesn't find where programs run")
    home.config.write_text(here)
    return lambda: home.config.write_text(before)


LOSSES = {
    "a file of write_workspace_file is gone": remove_file(FILE),
    "a file of a program is gone": remove_file(PROGRAM_FILE),
    "a file that was left behind is gone": remove_file(LEFT_FILE),
    "a session of what was left behind is gone": in_database("DELETE FROM sessions WHERE name IS NULL"),
    "a folder without a session stays": keep_a_folder,
    "a file is half written": halve_file,
    "a file is an earlier one": change_file,
    "a temporary file is left in a workspace": leave_a_half_made_file,
    "a state value is gone": in_database("DELETE FROM session_values"),
    "a state value is an earlier one": in_database("""UPDATE session_values SET value = '{"number": 1}'"""),
    "an execution is gone": in_database("DELETE FROM executions WHERE outcome = 'ok'"),
    "a version of a skill is gone": remove_version,
    "a skill is gone": remove_skill,
    "a skill is an earlier one": change_skill,
    "a result is gone": remove_result(RESULT),
    "an output of a program is gone": remove_result(OUTPUT),
    "an output of an analysis is gone": remove_result(ANALYSIS),
    "a result is forgotten": forget_result(RESULT),
    "a result is half written": halve_result,
    "a result is another one": change_result(RESULT),
    "an output of a program is another one": change_result(OUTPUT),
    "an output of an analysis is another one": change_result(ANALYSIS),
    "half a result passes for a whole one": pass_half_a_result_off,
    "handles are made with another key": in_database("DELETE FROM result_keys"),
    "a handle without its file stays": keep_a_row,
    "a file without a handle stays": keep_a_stray,
    "a result on its way in stays": keep_what_came_in,
    "a process is left": leave_a_process,
    "a scratch folder is left": leave_scratch,
}

# Where there are nodes, also these.
LOSSES_WITH_NODES = {
    "programs run in the gateway": run_programs_here,
    "what a node sent stays on its way": keep_what_a_node_sent,
}
