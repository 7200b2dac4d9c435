"""What the comparisons with the native engine are made of."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "native"
sys.path.insert(0, str(FOLDER))

import system_calls

FILTER = "seccomp(SECCOMP_SET_MODE_FILTER, 0, 0x7ffc) = 0\n"
PROGRAM = f"""execve("/usr/bin/x", [], []) = 0
{FILTER}prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  = 0
{FILTER}setitimer(ITIMER_PROF, 0x7ffc, NULL) = 0
openat(AT_FDCWD, "x", O_RDONLY) = -1 ENOENT (No such file or directory)
mbind(0x7f, 4096, 0, NULL, 0, 0) = -1 EPERM (Operation not permitted)
clone(child_stack=0x7f, flags=CLONE_VM|CLONE_SIGHAND|CLONE_THREAD) = 12
exit_group(0)                           = ?
"""


class SystemCalls(unittest.TestCase):
    def test_those_of_the_program_and_its_threads_count_from_the_filter_on(self):
        traces = {
            ".10": PROGRAM,
            ".11": f"{FILTER}socket(AF_INET, SOCK_DGRAM, 0) = -1 EPERM (Operation not permitted)\n",
            ".12": "futex(0x7f, FUTEX_WAKE, 1) = 0\n",
            ".13": "bind(3, {sa_family=AF_UNIX}, 110) = 0\n",
        }
        expected = [("setitimer", None), ("openat", "ENOENT"), ("mbind", "EPERM"), ("clone", None)]
        expected += [("exit_group", None), ("futex", None)]
        self.assertEqual(system_calls.confined_calls(traces), expected)

    def test_the_list_is_the_jails_own(self):
        listed = system_calls.listed()
        self.assertIn("openat", listed)
        self.assertTrue(listed.isdisjoint({"clone3", "execve", "fork", "memfd_create", "socket"}))


class Outside(unittest.TestCase):
    def outcome(self, code, context):
        with tempfile.TemporaryDirectory() as work:
            path = Path(work) / "program.py"
            path.write_text(code)
            command = [sys.executable, "-I", "-B", FOLDER / "outside.py", work, path, json.dumps(context)]
            return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def test_a_program_has_its_context_top_level_await_and_a_result(self):
        code = "import sys\nprint(n)\nprint('e', file=sys.stderr)\nawait asyncio.sleep(0)\n{'n': n, 'x': [float('nan')]}"
        expected = {"stdout": "3\n", "stderr": "e\n", "result": {"n": 3, "x": ["NaN"]}, "error": None}
        self.assertEqual(self.outcome(code, {"n": 3}), expected)

    def test_an_error_has_the_line_of_the_program(self):
        told = self.outcome("def f():\n    return {}['a']\n\nresult = f()", {})
        self.assertEqual(told["error"], {"message": "KeyError: 'a'", "line": 2})
        self.assertIsNone(told["result"])


class Programs(unittest.TestCase):
    def test_there_are_enough_of_each_package_and_each_can_be_read(self):
        programs = sorted((FOLDER / "programs").glob("*.py"))
        self.assertGreaterEqual(len(programs), 60)
        for package in ("numpy", "pandas", "scipy", "sklearn", "pillow", "openpyxl", "lxml"):
            self.assertGreaterEqual(sum(path.name.startswith(package) for path in programs), 4, package)
        for path in programs:
            compile(path.read_text(), path.name, "exec")
