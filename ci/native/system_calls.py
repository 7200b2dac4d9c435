"""The system calls that programs make in the jail, against the list of those that are permitted."""

import re
import shutil
from pathlib import Path

LIST = Path(__file__).resolve().parents[2] / "crates" / "worker" / "src" / "jail" / "linux" / "native_calls.rs"
CALL = re.compile(r"^(\w+)\(.*?(?:= (?P<outcome>-?\w+)(?: (?P<error>E[A-Z]+))?.*)?$")


def look(jail, programs, seconds_max):
    """Prints which permitted calls nothing made, and which calls were refused."""
    if shutil.which("strace") is None:
        print("NOT CHECKED: system calls of the native engine: strace is missing")
        return
    made, refused = {}, {}
    for path in programs:
        for old in jail.folder.glob("trace.*"):
            old.unlink()
        before = ["strace", "-ff", "-qq", "-e", "signal=none", "-o", jail.folder / "trace"]
        told = jail.run(path, seconds_max, before=before)
        traces = {trace.suffix: trace.read_text(errors="replace") for trace in jail.folder.glob("trace.*")}
        confined = confined_calls(traces)
        if not confined:
            raise SystemExit(f"error: {path.stem}: no confined process was seen: {told}")
        for name, error in confined:
            (refused if error in ("EPERM", "ENOSYS") else made).setdefault(name, path.stem)
    permitted = listed()
    print(f"{len(programs)} programs made {len(made)} of {len(permitted)} permitted calls")
    print("made by none:", " ".join(sorted(permitted - {*made})))
    print("refused:", " ".join(f"{name} ({program})" for name, program in sorted(refused.items()) if name not in made))
    beyond = {*made} - permitted
    if beyond:
        raise SystemExit(f"error: these went through and aren't on the list: {' '.join(sorted(beyond))}")


def confined_calls(traces):
    """The calls of the program's process once it has confined itself, and of its threads; each with its error."""
    found = []
    for trace in traces.values():
        _, filtered, rest = trace.rpartition("seccomp(SECCOMP_SET_MODE_FILTER")
        # Another process tries the walls, and has no program.
        if filtered and "setitimer(ITIMER_PROF" in rest:
            threads = re.findall(r"^clone\(.*CLONE_THREAD.* = (\d+)$", rest, re.MULTILINE)
            texts = [rest.partition("\n")[2], *(traces.get(f".{thread}", "") for thread in threads)]
            calls = (CALL.match(line) for text in texts for line in text.splitlines())
            found += [(call[1], call["error"]) for call in calls if call]
    return found


def listed():
    text = LIST.read_text()
    return {*re.findall(r"libc::SYS_(\w+)", text.partition("const BENEATH")[0])}
