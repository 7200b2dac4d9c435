"""A test as the program that Gristmill runs, and what its report says of the test."""

import re
from pathlib import Path

PASSED = "Test262:passed"

# In every test's scope; tests reach them as globals, too, from code that they make out of text.
ALWAYS = ("sta.js", "assert.js")
DECLARED = re.compile(r"^(?:function|var|let|const) +([\w$]+)", re.MULTILINE)

# What the suite asks of its host.
HOST = """
Object.defineProperty(globalThis, "$262", { configurable: true, writable: true, value: {
  global: globalThis,
  detachArrayBuffer: (buffer) => void buffer.transfer(),
  evalScript: (code) => (0, eval)(code),
} });
Object.defineProperty(globalThis, "print", { configurable: true, writable: true, value: console.log });
const $262Print = console.log.bind(console);
"""
ASYNC = """
let $262Settle;
const $262Settled = new Promise((resolve, reject) => { $262Settle = { resolve, reject }; });
Object.defineProperty(globalThis, "$DONE", { configurable: true, writable: true, value: (error) => {
  if (error) $262Settle.reject(error); else $262Settle.resolve();
} });
"""

SYNTAX_ERROR = "GM-1101"


class Programs:
    """Makes programs out of tests with the harness that came along."""

    def __init__(self, harness):
        self.harness = Path(harness)
        self.texts = {}

    def of(self, test):
        if test.phase == "parse":
            # Nothing of it may run.
            return test.code
        before = [self.text(name) for name in (*ALWAYS, *test.includes) if name != "doneprintHandle.js"]
        before.append(HOST)
        after = [f'\n;$262Print("{PASSED}");']
        if "async" in test.flags:
            before.append(ASYNC)
            after.insert(0, "\n;await $262Settled;")
        if test.phase == "runtime":
            after = []
        return "\n".join([*before, test.code, *after])

    def text(self, name):
        if name not in self.texts:
            text = (self.harness / name).read_text()
            globals_ = "".join(
                f'Object.defineProperty(globalThis, "{one}", {{ configurable: true, writable: true, value: {one} }});\n'
                for one in dict.fromkeys(DECLARED.findall(text))
            )
            self.texts[name] = f"{text}\n{globals_}"
        return self.texts[name]


def judge(test, report):
    """Nothing if the test has passed, or else what was wrong, in one line."""
    error = report.get("error") or {}
    message = " ".join(str(error.get("message", "")).split())
    said = f"{error.get('code', report.get('status'))}: {message}"[:300]
    if test.phase == "parse":
        return None if error.get("code") == SYNTAX_ERROR else f"accepted, or failed too late: {said}"
    if test.phase == "runtime":
        text = f"{error.get('message', '')}\n{error.get('traceback', '')}"
        return None if test.error in text else f"no {test.error}: {said}"
    # What a test leaves behind, such as a rejection that nobody handles, is no failure of its own.
    return None if PASSED in report.get("output", "") else said
