import os
import sys
import textwrap
import unittest

from gristmill_guest import namespace, state_values
from tests.fake_host import FakeHost, Refusal, Session, run
from tests.places import InAWorkspace


class World(unittest.TestCase):
    def setUp(self):
        self.host = FakeHost(echo=lambda arguments: arguments)

    def check(self, code, expected, **options):
        outcome = run(textwrap.dedent(code), self.host, **options)
        self.assertEqual((outcome["ok"], outcome["result"]), (True, expected), outcome)

    def error(self, code):
        outcome = run(textwrap.dedent(code), self.host)
        self.assertFalse(outcome["ok"], outcome)
        return outcome["error"]


class State(World):
    def test_it_is_a_mapping_that_outlives_the_program(self):
        self.check("state['a'] = {'n': [1, None]}\nstate.setdefault('b', 2)\nstate.update(c='x')\nlen(state)", 3)
        self.assertEqual(self.host.values, {"a": {"n": [1, None]}, "b": 2, "c": "x"})
        code = "[list(state), state.get('a'), state.get('z', 7), 'b' in state, 5 in state]"
        self.check(code, [["a", "b", "c"], {"n": [1, None]}, 7, True, False])
        self.check("state.pop('a')\ndel state['b']\nstate", {"c": "x"})
        self.check("repr(state)", "state({'c': 'x'})")
        self.check("state.clear()\nlist(state.items())", [])

    def test_none_is_a_value(self):
        self.check("state['a'] = None\n['a' in state, state['a'] is None]", [True, True])

    def test_a_missing_key_is_a_key_error(self):
        for code in ("state['z']", "del state['z']", "state.pop('z')"):
            error = self.error(code)
            self.assertEqual((error["type"], error["message"]), ("KeyError", "KeyError: 'z'"), code)

    def test_what_is_not_json_is_refused_with_its_place(self):
        for value, message in (
            ("{1}", "state['a'] is a set, which JSON can't represent; pass list(...) of it"),
            ("[1, {'b': b'x'}]", "state['a'][1].b is a bytes, which JSON can't represent; decode it to text first"),
            ("object()", "state['a'] is an object, which JSON can't represent; convert it to text, a number, a list or a dict"),
            ("float('nan')", "state['a'] is nan, which JSON can't represent"),
            ("{1: 2}", "state['a'] has the key 1 of type int; keys must be strings"),
        ):
            error = self.error(f"state['a'] = {value}")
            self.assertEqual((error["type"], error["message"]), ("TypeError", message))
        error = self.error("state[5] = 1")
        self.assertEqual((error["type"], error["message"]), ("TypeError", "keys of state must be strings, not int: 5"))
        self.assertEqual(self.host.values, {})

    def test_what_is_read_is_a_copy(self):
        self.check("state['a'] = [1]\nstate['a'].append(2)\nstate['a']", [1])

    def test_it_works_beside_calls_that_are_under_way(self):
        code = """
        async def one(n):
            state[str(n)] = await callMCPTool("echo", n=n, delay_ms=10 - n)
        await asyncio.gather(*map(one, range(3)))
        [state[key]["n"] for key in state]
        """
        self.check(code, [0, 1, 2])

    def test_a_refusal_of_the_gateway_is_an_error_with_its_words(self):
        def refuse(**request):
            raise Refusal(message="state has 1000 keys", kind="state", code="GM-1402", tool="state")

        self.host._state = refuse
        error = self.error("state['a'] = 1")
        self.assertEqual((error["type"], error["message"], error["line"]), ("StateError", "state has 1000 keys", 1))

    def test_a_context_variable_may_hide_it_and_the_program_can_import_it(self):
        self.addCleanup(sys.modules.pop, "gristmill")
        namespace.make_importable()
        code = "from gristmill import state as kept\nkept['a'] = state\nreset"
        self.check(code, 7, context={"state": "given", "reset": 7})
        self.assertEqual(self.host.values, {"a": "given"})

    def test_a_program_that_keeps_its_variables_has_it_too(self):
        with Session(self.host) as session:
            session.run("mine = state\nstate['a'] = 1")
            self.assertEqual(session.result("[mine['a'], state['a']]"), [1, 1])


class Reset(InAWorkspace):
    def test_it_empties_the_workspace_and_the_state(self):
        self.addCleanup(setattr, state_values, "WORKSPACE", state_values.WORKSPACE)
        state_values.WORKSPACE = self.root
        os.makedirs("a/b")
        for path in ("one.txt", "a/two.txt", "a/b/.hidden"):
            open(path, "w").close()
        os.symlink("/", "a/link")
        host = FakeHost()
        host.values["k"] = 1
        outcome = run("reset()\nlen(state)", host)
        self.assertEqual((outcome["result"], os.listdir(self.root), host.values), (0, [], {}), outcome)
        for code in ("reset()", "await reset()", "result = reset()"):
            outcome = run(code, host)
            self.assertEqual((outcome["ok"], outcome["has_result"]), (True, False), code)
