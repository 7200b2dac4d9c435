"""A check that cannot fail is no check: each kind of loss is brought about by hand, and must be noticed."""

import fcntl
import shutil
import subprocess
import sys

import check
from gateway import Gateway
from ledger import Loss
from load import FILE, PROGRAM_FILE, SESSIONS, SKILLS, content, skill_code


def all_are_noticed(home, ledger):
    """The ledger is that of a run whose last gateway was closed: nothing is under way."""
    whole = home.folder / "whole"
    shutil.copytree(home.data, whole)
    if found := noticed(home, ledger, lambda: None):
        raise Loss(f"a loss is seen where there is none: {found}")
    for name, bring_about in LOSSES.items():
        shutil.rmtree(home.data)
        shutil.copytree(whole, home.data)
        found = noticed(home, ledger, lambda: bring_about(home))
        if found is None:
            raise Loss(f"nobody notices: {name}")
        print(f"noticed: {name}: {found[:150]}", flush=True)


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


def session_file(kind):
    """The path of an acknowledged file, by who wrote it."""
    name = "program.txt" if kind == PROGRAM_FILE else "notes/file-1.txt"
    return lambda home: home.session_folder(SESSIONS[0]) / "workspace" / name


def remove_file(kind):
    return lambda home: session_file(kind)(home).unlink()


def remove_left_file(home):
    next(home.data.glob("sessions/*/workspace/left-*.txt")).unlink()


def keep_a_folder(home):
    # Held, as by a program that runs in it: nobody may remove it.
    folder = home.data / "sessions" / ("z" * 20)
    (folder / "workspace").mkdir(parents=True)
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock.close


def halve_file(home):
    path = session_file(FILE)(home)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change_file(home):
    path = session_file(FILE)(home)
    path.write_text(content(1))


def leave_a_half_made_file(home):
    (session_file(FILE)(home).parent / "left-over.tmp").write_text("half")


def in_database(*statements):
    def change(home):
        database = home.database("rw")
        with database:
            for statement in statements:
                if database.execute(statement).rowcount < 1:
                    raise SystemExit(f"error: the self-test changes nothing with {statement!r}")
        database.close()

    return change


def remove_skill(home):
    shutil.rmtree(home.data / "skills" / SKILLS[0])


def change_skill(home):
    (home.data / "skills" / SKILLS[0] / f"{SKILLS[0]}.py").write_text(skill_code(1))


def leave_a_process(home):
    words = [sys.executable, "-c", "import time; time.sleep(600)", str(home.folder)]
    left = subprocess.Popen(words, stdin=subprocess.DEVNULL)

    def undo():
        left.kill()
        left.wait()

    return undo


def leave_scratch(home):
    # Locked, as by a gateway that does not go away: nobody may remove it.
    folder = home.scratch / "gateway-1-1"
    folder.mkdir()
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)

    def undo():
        lock.close()
        shutil.rmtree(folder)

    return undo


LOSSES = {
    "a file of write_workspace_file is gone": remove_file(FILE),
    "a file of a program is gone": remove_file(PROGRAM_FILE),
    "a file that was left behind is gone": remove_left_file,
    "a session of what was left behind is gone": in_database("DELETE FROM sessions WHERE name IS NULL"),
    "a folder without a session stays": keep_a_folder,
    "a file is half written": halve_file,
    "a file is an earlier one": change_file,
    "a temporary file is left in a workspace": leave_a_half_made_file,
    "a state value is gone": in_database("DELETE FROM session_values"),
    "a state value is an earlier one": in_database("""UPDATE session_values SET value = '{"number": 1}'"""),
    "an execution is gone": in_database("DELETE FROM executions WHERE outcome = 'ok'"),
    "a version of a skill is gone": in_database("DELETE FROM skill_versions WHERE version = 2"),
    "a skill is gone": remove_skill,
    "a skill is an earlier one": change_skill,
    "a process is left": leave_a_process,
    "a scratch folder is left": leave_scratch,
}
