import unittest

from tests.fake_host import FakeHost, Refusal, run
from tests.places import BesideTrees


def saves(request):
    if request["action"] == "list":
        return {"text": "1 skill", "skills": [{"name": "adder"}]}
    if request["action"] == "delete":
        return {"text": "deleted", "name": request["name"]}
    return {"text": "saved", "name": request["name"], "version": 1, "use": "", "notes": [], "code": request["code"]}


class Skills(BesideTrees):
    tree = {"skills/adder.py": "def add(a, b):\n    return a + b\n", "skills/adder.md": "# adder"}

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
        self.assertIn("none is saved yet", self.error("delete_skill('adder')\nload_skill('adder')")["message"])

    def test_a_new_version_replaces_the_one_of_when_it_began(self):
        code = 'save_skill("adder", "def add(a, b): return 0")\nfrom skills.adder import add\nresult = add(1, 2)'
        self.assertEqual(self.result(code), 0)
        # Another run begins anew.
        self.assertEqual(self.result("from skills.adder import add\nresult = add(1, 2)"), 3)

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

    def test_wrong_arguments_and_names_are_told(self):
        self.assertIn("name of load_skill is text", self.error("load_skill(3)")["message"])
        self.assertIn("test of save_skill", self.error("save_skill('a', 'x', test=3)")["message"])
        self.assertIn('did you mean "adder"?', self.error("load_skill('ader')")["message"])
        self.assertIn("skills.adder", self.error("import skills.ader")["message"])


class NoSkills(BesideTrees):
    def test_without_skills_the_name_is_free(self):
        outcome = run("import skills", FakeHost())
        self.assertEqual(outcome["error"]["kind"], "missing_module")


if __name__ == "__main__":
    unittest.main()
