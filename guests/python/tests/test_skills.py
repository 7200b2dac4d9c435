import sys
import textwrap
import unittest

from tests.fake_host import FakeHost, Refusal, Session, run
from tests.places import BesideTrees


def saves(request):
    if request["action"] == "list":
        return {"text": "1 skill", "skills": [{"name": "adder"}]}
    if request["action"] == "delete":
        return {"text": "deleted", "name": request["name"]}
    return {"text": "saved", "name": request["name"], "version": 1, "use": "", "notes": [], "code": request["code"]}


class Skills(BesideTrees):
    tree = {"skills/adder.py": "def add(a, b):\n    return a + b\n", "skills/adder.md": "# adder"}
    tree |= {"skills/totals.ts": "export function total() {}", "skills/totals.md": "# totals"}

    def result(self, code, host=None):
        outcome = run(code, host or FakeHost(skill=saves))
        self.assertTrue(outcome["ok"], outcome)
        return outcome["result"]

    def error(self, code, host=None):
        outcome = run(code, host or FakeHost(skill=saves))
        self.assertFalse(outcome["ok"], outcome)
        return outcome["error"]

    def test_a_skill_is_imported_loaded_and_executed_in_any_spelling(self):
        self.assertEqual(self.result("from skills.adder import add\nresult = add(1, 2)"), 3)
        self.assertEqual(self.result("exec(load_skill('adder'))\nresult = add(1, 2)"), 3)
        self.assertEqual(self.result("exec(await load_skill('Adder'))\nresult = add(1, 2)"), 3)

    def test_what_is_saved_is_there_at_once_and_what_is_deleted_is_gone(self):
        saved = 'save_skill("doubler", "def double(n): return 2 * n")\n'
        self.assertEqual(self.result(saved + "from skills.doubler import double\nresult = double(4)"), 8)
        self.assertIn("double", self.result(saved + "result = load_skill('doubler')"))
        self.assertEqual(self.result("delete_skill('adder')\nimport skills\nresult = skills.__all__"), [])
        self.assertIn("none are saved yet", self.error("delete_skill('adder')\nload_skill('adder')")["message"])

    def test_a_skill_in_typescript_is_read_and_not_imported(self):
        for spelling in ("totals", "Totals"):
            message = self.error(f"from skills.{spelling} import total")["message"]
            self.assertIn("the skill totals is written in TypeScript", message)
        self.assertIn("export function", self.result("result = load_skill('totals')"))
        self.assertIn("in a TypeScript program", self.result("result = describe_tool('skills.totals')"))
        self.assertEqual(self.result("import skills\nresult = skills.__all__"), ["adder"])
        gone = self.error("delete_skill('totals')\nimport skills.totals")["message"]
        self.assertNotIn("TypeScript", gone)

    def test_a_new_version_replaces_the_one_of_when_it_began(self):
        code = 'save_skill("adder", "def add(a, b): return 0")\nfrom skills.adder import add\nresult = add(1, 2)'
        self.assertEqual(self.result(code), 0)
        # Another run begins anew.
        self.assertEqual(self.result("from skills.adder import add\nresult = add(1, 2)"), 3)

    def test_a_module_is_imported_anew_after_its_skill_was_saved_again_or_deleted(self):
        code = """
            first = save_skill("ver", "def ver(): return 1")
            save_skill("above", "from skills.ver import ver\\ndef twice(): return 2 * ver()")
            from skills.ver import ver
            from skills.above import twice
            import skills
            was = [ver(), twice(), skills.Ver.ver()]
            save_skill("ver", "def ver(): return 5")
            from skills.ver import ver
            from skills.above import twice
            result = [was, ver(), twice(), skills.Ver.ver(), skills.__all__]
        """
        expected = [[1, 2, 1], 5, 10, 5, ["above", "adder", "ver"]]
        self.assertEqual(self.result(textwrap.dedent(code)), expected)
        code = "from skills.adder import add\ndelete_skill('adder')\nfrom skills.adder import add"
        self.assertIn("No module named 'skills.adder'", self.error(code)["message"])

    def test_a_skill_that_fails_on_import_can_be_repaired_in_the_same_program(self):
        code = """
            save_skill("broken", "x = 1 / 0")
            try:
                import skills.broken
            except ZeroDivisionError:
                save_skill("broken", "x = 1")
            from skills.broken import x
            result = x
        """
        self.assertEqual(self.result(textwrap.dedent(code)), 1)

    def test_each_helper_may_be_awaited_and_prints_as_text(self):
        code = 'saved = await save_skill("a_b", "x = 1", tags=("one",))\nresult = [str(saved), saved["version"]]'
        self.assertEqual(self.result(code), ["saved", 1])
        self.assertEqual(self.result("found = list_skills('add')\nresult = [str(found), found]"), ["1 skill", [{"name": "adder"}]])

    def test_the_host_is_asked_for_what_was_said(self):
        host = FakeHost(skill=saves)
        self.result("save_skill('a', 'x = 1', 'Does.', test={'call': 'f()', 'expect': 1}, tags='one')", host)
        self.assertEqual(
            host.started,
            [(
                "skill",
                {
                    "action": "save",
                    "name": "a",
                    "code": "x = 1",
                    "description": "Does.",
                    "tags": ["one"],
                    "test": {"call": "f()", "expect": 1},
                    "line": 1,
                },
            )],
        )

    def test_a_refusal_is_a_tool_error_with_its_line(self):
        def refuse(request):
            raise Refusal(message="not saved: the test failed", code="GM-1104", kind="tool", tool="save_skill")

        error = self.error("\nsave_skill('a', 'x')", FakeHost(skill=refuse))
        self.assertEqual((error["line"], error["kind"]), (2, "tool"))
        self.assertIn("the test failed", error["message"])

    def test_a_skill_that_is_taken_for_a_tool_is_described(self):
        for name in ("skills.adder", "Skills.Adder", "adder"):
            told = self.result(f"result = describe_tool({name!r})")
            self.assertTrue("import skills.adder" in told and told.endswith("# adder"), told)
        saved = "save_skill('doubler', 'def double(n): return 2 * n')\nresult = describe_tool('skills.doubler')"
        self.assertIn("def double(n)", self.result(saved))
        self.assertIn('there is no tool "crm.adder"', self.error("describe_tool('crm.adder')")["message"])

    def test_wrong_arguments_and_names_are_told(self):
        self.assertIn("name of load_skill must be text", self.error("load_skill(3)")["message"])
        self.assertIn("test of save_skill", self.error("save_skill('a', 'x', test=3)")["message"])
        said = self.error("save_skill('a', 'x', test={'cal': 'f()', 'expect': 1})")["message"]
        self.assertIn('test of save_skill has no "call"', said)
        said = self.error("save_skill('a', 'x', test={'call': 'f()', 'expect': 1, 'name': 2})")["message"]
        self.assertIn("cannot have 'name'", said)
        self.assertIn('did you mean "adder"?', self.error("load_skill('ader')")["message"])
        self.assertIn("skills.adder", self.error("import skills.ader")["message"])


class KeptInterpreter(BesideTrees):
    """What was saved elsewhere is imported; what is as it was stays the same module."""

    tree = Skills.tree

    def setUp(self):
        super().setUp()
        self.sources = {"adder": "count = [0]\ndef add(a, b): return a + b\n", "user": "from skills.adder import add\n"}
        self.session = Session(FakeHost(skill=self.answer))
        self.session.__enter__()
        self.addCleanup(self.session.__exit__)

    def answer(self, request):
        if request["action"] == "names":
            return {"names": sorted(self.sources)}
        if request["action"] == "load":
            return {"code": self.sources.get(request["name"])}
        return saves(request)

    def test_a_new_version_of_elsewhere_is_imported_and_a_deleted_one_is_not(self):
        self.session.run("1")
        code = "from skills.adder import add\nfrom skills import adder, user\nadder.count[0] += 1\n"
        code += "[add(1, 2), user.add(1, 2), adder.count[0]]"
        self.assertEqual(self.session.result(code), [3, 3, 1])
        self.assertEqual(self.session.result(code), [3, 3, 2], "the same source, the same module")
        self.sources["adder"] = "count = [7]\ndef add(a, b): return a * b\n"
        self.assertEqual(self.session.result(code), [2, 2, 8])
        self.assertEqual(self.session.result("import skills\nskills.adder.add(2, 3)"), 6)
        del self.sources["adder"]
        self.assertIn("No module named 'skills.adder'", self.session.run(code)["error"]["message"])


class Waiting(BesideTrees):
    tree = {"skills/.waiting": "site_rules\nother\n"}

    def test_the_import_of_one_that_waits_says_what_the_user_can_do(self):
        for code in ("from skills.site_rules import f", "from skills.siteRules import f", "load_skill('site_rules')"):
            outcome = run(code, FakeHost(skill=saves))
            self.assertIn("gristmill skills approve site_rules", outcome["error"]["message"], code)
        self.assertIn("there are: none", run("import skills.third", FakeHost())["error"]["message"])

    def test_a_package_of_the_workspace_is_not_hidden_by_those_that_wait(self):
        code = "import sys, os\nos.makedirs('skills_here/skills')\nopen('skills_here/skills/__init__.py', 'w').close()\n"
        code += "open('skills_here/skills/own.py', 'w').write('x = 1')\nsys.path.insert(0, 'skills_here')\n"
        code += "import skills.own\nresult = skills.own.x"
        outcome = run(code, FakeHost(skill=saves))
        for name in ("skills", "skills.own"):
            sys.modules.pop(name, None)
        sys.path.remove("skills_here")
        self.assertEqual(outcome["result"], 1, outcome)


class NoSkills(BesideTrees):
    def test_without_skills_the_name_is_free(self):
        outcome = run("import skills", FakeHost())
        self.assertEqual(outcome["error"]["kind"], "missing_module")


if __name__ == "__main__":
    unittest.main()
