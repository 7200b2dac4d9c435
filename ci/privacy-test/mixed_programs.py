"""What clients ask for: every way that is known for a value to leave a server's answer.

An activity is a function that asks once or a few times. In the mode `output` a program holds values: what it writes
to files, `state` and variables may have them, so such activities (`keeps`) use people of their own.
"""

import json
import random
import threading

from people_gateway import Ended
from planted import KINDS, PEOPLE, SELF_EVIDENT, field, repository, sentence

# People from here on are the only ones whose values programs keep by themselves, in the mode `output`.
KEPT_FROM = 80

GET = "from servers.people import get_person\np = await get_person(number={})\n"
SKILL = """from servers.people import get_person


async def find(number):
    \"\"\"Finds a person by number.\"\"\"
    return await get_person(number=number)
"""


class Caller:
    """One thread: it asks until its gateway is gone."""

    def __init__(self, number, mode, people, needles, seed):
        self.number, self.mode, self.people, self.needles = number, mode, people, needles
        self.chance = random.Random(f"{seed} {mode} {number}")
        self.client, self.session = None, f"privacy-{number}"
        # What was asked, what was answered, which activities' answers had values, and the first of these.
        self.asked, self.statuses, self.carried, self.examples = {}, {}, {}, {}
        self.sent, self.refused, self.handles, self.problems = {}, {}, [], []
        self.marks = 0
        self.turn = []

    def work(self, client, until):
        self.client = client
        try:
            while not until.is_set():
                # Each in turn, in another order each time, so that short runs have them all.
                if not self.turn:
                    self.turn = list(ACTIVITIES)
                    self.chance.shuffle(self.turn)
                self.activity = self.turn.pop()
                self.asked[self.activity.__name__] = self.asked.get(self.activity.__name__, 0) + 1
                self.activity(self)
        except Ended:
            pass
        except Exception as problem:  # noqa: BLE001
            self.problems.append(f"{self.activity.__name__}: {problem!r}")

    # Asking

    def call(self, tool, **arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def request(self, method, params, **options):
        answer = self.client.request(method, params, **options)
        if answer is None:
            return None
        name = self.activity.__name__
        if values := self.needles.find(json.dumps(answer, ensure_ascii=False).encode()):
            self.carried.setdefault(name, set()).update(values)
            self.examples.setdefault(name, (params, answer, sorted(values)))
        result = answer.get("result", {})
        status = (result.get("structuredContent") or {}).get("status") or ("error" if "error" in answer else "answered")
        counts = self.statuses.setdefault(name, {})
        counts[status] = counts.get(status, 0) + 1
        return result

    def execute(self, code, **arguments):
        return self.call("execute_code", code=code, **arguments).get("structuredContent") or {}

    # Whom it is about

    def someone(self, keeps=False):
        if self.mode == "boundary":
            return self.chance.randrange(PEOPLE)
        return self.chance.randrange(KEPT_FROM, PEOPLE) if keeps else self.chance.randrange(KEPT_FROM)

    def bare_field(self):
        """A field whose value is known for what it is without the field's name. At the boundary: any."""
        return field(self.chance.choice(KINDS if self.mode == "boundary" else SELF_EVIDENT))

    def mark(self):
        self.marks += 1
        return f"mark-{self.number}-{self.marks}"


# Results, output, errors


def prints_and_returns(caller):
    one, two = caller.bare_field(), caller.bare_field()
    code = f"import sys\nprint(p)\nprint(p['{one}'], file=sys.stderr)\nprint('so', p['{two}'], 'it is')\nresult = p"
    caller.execute(GET.format(caller.someone()) + code)


def returns_keys_and_lists(caller):
    code = "result = {'by': {p['email']: 1, p['iban']: [p['phone'], {'x': p['ssn']}]}, 'n': [p, p]}"
    caller.execute(GET.format(caller.someone()) + code)


def raises(caller):
    name = caller.bare_field()
    code = caller.chance.choice([
        f"raise ValueError('cannot pay for ' + p['{name}'])",
        f"{{}}[p['{name}']]",
        f"try:\n    int(p['{name}'])\nexcept ValueError as e:\n    raise RuntimeError(str(p)) from e",
        f"class E(Exception): pass\nraise E(p, p['{name}'])",
        f"assert not p, p['{name}']",
    ])  # fmt: skip
    caller.execute(GET.format(caller.someone()) + code)


def reads_notes(caller):
    form = caller.chance.choice(["letter", "base64", "csv"])
    code = f"from servers.people import get_note\nt = await get_note(number={caller.someone()}, form='{form}')\n"
    caller.execute(code + "print(t)\nresult = {'note': t}")


def servers_fail(caller):
    code = f"from servers.people import fail\nawait fail(number={caller.someone()})"
    caught = "try:\n    await callMCPTool('people.fail', {'number': %d})\nexcept Exception as e:\n    print(e)\n    result = repr(e)"
    caller.execute(caller.chance.choice([code, caught % caller.someone()]))


def wrong_arguments(caller):
    name = caller.bare_field()
    code = caller.chance.choice([
        f"await get_person(number=p['{name}'])",
        f"await callMCPTool('people.' + p['{name}'], {{}})",
        f"await callMCPTool('people.get_person', {{p['{name}']: 1}})",
        f"await get_person(number=10**6, other=p['{name}'])",
        f"import importlib\nimportlib.import_module('servers.' + p['{name}'])",
        f"open(p['{name}'])",
    ])  # fmt: skip
    caller.execute(GET.format(caller.someone()) + code)


def analyzes(caller):
    code = "from servers.people import list_people\nrows = (await list_people(limit=20))['people']\n"
    code += "result = await analyze(rows, [{'select': ['email', 'iban', 'orders']}, {'sort': [{'field': 'email'}]}])"
    caller.execute(code)


# What is kept


def writes_files(caller):
    number = caller.someone(keeps=True)
    code = f"import json\nwrite_file('p-{number}.json', json.dumps(p))\nwrite_file(p['iban'] + '.txt', str(p))"
    caller.execute(GET.format(number) + code, session=caller.session)
    caller.call("read_workspace_file", session=caller.session, path=f"p-{number}.json")
    caller.call("list_workspace_files", session=caller.session)
    caller.execute(f"result = read_file('p-{number}.json')", session=caller.session)


def keeps_state(caller):
    number = caller.someone(keeps=True)
    caller.execute(GET.format(number) + f"state['p{number % 5}'] = p", session=caller.session)
    caller.execute(f"print(state.get('p{number % 5}'))\nresult = dict(state)", session=caller.session)


def keeps_variables(caller):
    arguments = {"session": f"{caller.session}-kept", "keep_variables": True}
    caller.execute(GET.format(caller.someone(keeps=True)), **arguments)
    caller.execute("result = p", **arguments)


def stores_large_results(caller):
    code = f"from servers.people import list_people\nresult = await list_people(offset=0, limit={KEPT_FROM})"
    told = json.dumps(caller.call("execute_code", code=code, max_output_tokens=200))
    if "/results/" not in told:
        return
    handle = told.partition("/results/")[2].partition(".json")[0]
    caller.call("read_result", handle=handle, offset=0, limit=1)
    caller.call("read_result", handle=handle, path=f"people[{caller.chance.randrange(KEPT_FROM)}]")
    caller.call("read_result", handle=handle, path="people[3].email")
    read = f"import json\nrows = json.load(open('/results/{handle}.json'))['people']\nprint(rows[4])\nresult = rows[5]"
    caller.execute(read)


def stores_huge_results(caller):
    if caller.mode == "boundary":
        code = "from servers.people import list_people\nresult = (await list_people())['people'] * 120"
        caller.execute(code, max_output_tokens=300, timeout_s=20)


def saves_skills(caller):
    name = f"finder_{caller.number}"
    # A test that fails says what came instead.
    test = {"call": f"await find({caller.someone()})", "expect": 1}
    caller.call("save_skill", name=name, code=SKILL, test=test)
    caller.call("save_skill", name=name, code=SKILL)
    caller.execute(f"from skills.{name} import find\nresult = await find({caller.someone()})")
    caller.call("load_skill", name=name)


# Around programs


def searches(caller):
    caller.call("search_tools", query=caller.chance.choice(["person record", "send a message", "notes"]))
    caller.call("get_tool_definition", name="people.get_person", format="python")
    caller.call("get_execution_stats")


def reads_resources(caller):
    caller.request("resources/read", {"uri": f"gristmill://people/people%3A%2F%2F{caller.someone()}"})
    prompt = {"name": "people.write", "arguments": {"number": str(caller.someone())}}
    caller.request("prompts/get", prompt)


def in_the_background(caller):
    code = GET.format(caller.someone()) + "print(p)\nawait asyncio.sleep(0.3)\nresult = p"
    report = caller.execute(code, background=True)
    if "id" in report:
        caller.call("get_execution", id=report["id"], wait_s=10)
        caller.call("get_execution", id=report["id"])
    caller.call("get_execution")


def dry_runs(caller):
    code = "from servers.mail import deliver\nawait deliver(to=p['email'], subject=p['phone'], body=str(p))\nresult = p"
    report = caller.execute(GET.format(caller.someone()) + code, dry_run=True)
    if plan := (report.get("dry_run") or {}).get("plan"):
        caller.call("execute_code", plan=plan)


def times_out(caller):
    caller.execute(GET.format(caller.someone()) + "print(p)\nwhile True: pass", timeout_s=1)


def taken_back(caller):
    code = f"from servers.people import slowly\np = await slowly(number={caller.someone()})\nprint(p)\nresult = p"
    params = {"name": "execute_code", "arguments": {"code": code + "\nawait asyncio.sleep(3)"}}
    caller.request("tools/call", params, taken_back_after=caller.chance.uniform(0.1, 1.2))


def told_of_progress(caller):
    caller.execute(f"from servers.people import slowly\nresult = await slowly(number={caller.someone()})")


# From one server to another


def sends(caller):
    number, mark = caller.someone(), caller.mark()
    # The answer repeats it, without its field's name.
    kind = caller.chance.choice(KINDS if caller.mode == "boundary" else SELF_EVIDENT)
    code = f"""from servers.mail import deliver
result = await deliver(to=p['email'], subject='for ' + p['iban'], body=p['{field(kind)}'], mark='{mark}')
"""
    report = caller.execute(GET.format(number) + code)
    if report.get("status") == "ok":
        caller.sent[mark] = (number, kind)


def sends_a_token_later(caller):
    """What an answer showed goes into the next program, as models do it."""
    number, mark = caller.someone(), caller.mark()
    session = {"session": f"{caller.session}-later"}
    shown = caller.execute(GET.format(number) + "result = p['email']", **session).get("result")
    if isinstance(shown, str):
        code = "from servers.mail import deliver\nawait deliver(to=who, body='hello ' + who, mark=mark)"
        report = caller.execute(code, context={"who": shown, "mark": mark}, **session)
        if report.get("status") == "ok":
            caller.sent[mark] = (number, "email")


def is_refused(caller):
    number, mark = caller.someone(), caller.mark()
    code = f"from servers.mail import forward\nawait forward(note='about ' + p['ssn'], mark='{mark}')"
    report = caller.execute(GET.format(number) + code)
    if caller.mode == "boundary" and report:
        caller.refused[mark] = (report.get("error") or {}).get("code")


# What the model itself has written


def written(person, kind):
    return repository(person) if kind == "url_credentials" else person[kind]


def typed(caller):
    person = caller.people[caller.someone()]
    value = written(person, caller.chance.choice(SELF_EVIDENT))
    code = f"who = {value!r}\nprint(who)\nresult = [who, given]"
    caller.execute(code, context={"given": sentence(person)})


def typed_wrong(caller):
    person = caller.people[caller.someone()]
    value = written(person, caller.chance.choice(SELF_EVIDENT))
    caller.execute(caller.chance.choice([f"x = ({value!r}\ny = 1", f"raise ValueError({value!r})", f"import os; os.{value!r}"]))
    caller.call("validate_code", code=f"x = ({value!r}\ny = 1")


def typed_tables(caller):
    kept = caller.people[KEPT_FROM:]
    rows = [{"email": caller.chance.choice(kept)["email"], "n": at} for at in range(5)]
    caller.call("execute_analysis", data=rows, steps=[{"sort": [{"field": "n"}]}])


def sanitizes(caller):
    caller.call("sanitize_pii", text=sentence(caller.people[caller.someone()]))
    hidden = caller.execute(GET.format(caller.someone()) + "result = sanitize_pii(p)").get("result")
    caller.call("restore_pii", text=json.dumps(hidden))
    caller.execute(GET.format(caller.someone()) + "t = sanitize_pii(p)\nprint(restore_pii(t))\nresult = restore_pii(t)")


ACTIVITIES = (
    prints_and_returns, returns_keys_and_lists, raises, reads_notes, servers_fail, wrong_arguments, analyzes,
    writes_files, keeps_state, keeps_variables, stores_large_results, stores_huge_results, saves_skills, searches,
    reads_resources, in_the_background, dry_runs, times_out, taken_back, told_of_progress, sends,
    sends_a_token_later, is_refused, typed, typed_wrong, typed_tables, sanitizes,
)  # fmt: skip
# Whose answers have no values, whatever the mode.
SILENT = {"sanitizes", "searches", "stores_huge_results", "taken_back"}


def run_together(callers, clients, seconds, kill):
    """All callers at once, each with its client, until the kill; who isn't killed finishes what it is at."""
    over = threading.Event()
    pairs = zip(callers, clients)
    threads = [threading.Thread(target=caller.work, args=(client, over), daemon=True) for caller, client in pairs]
    for thread in threads:
        thread.start()
    over.wait(seconds)
    kill()
    over.set()
    for thread in threads:
        thread.join(90)
