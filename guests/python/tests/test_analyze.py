import sys
import textwrap
import unittest

from gristmill_guest import namespace
from tests.fake_host import FakeHost, Refusal, run

ROWS = [{"city": "Oslo", "total": 3}]
STEPS = [{"limit": 1}]


class Analyze(unittest.TestCase):
    def answer(self, code, analysis=lambda request: ROWS):
        self.host = FakeHost(analysis=analysis)
        return run(textwrap.dedent(code), self.host)

    def sent(self, code):
        outcome = self.answer(code)
        self.assertTrue(outcome["ok"], outcome)
        ((kind, request),) = self.host.started
        self.assertEqual(kind, "analyze")
        return request

    def refused(self, code):
        outcome = self.answer(code)
        self.assertFalse(outcome["ok"], outcome)
        self.assertEqual(self.host.started, [])
        return outcome["error"]["message"]

    def test_rows_and_steps_go_out_and_a_plain_value_comes_back(self):
        code = 'rows = [{"city": "Oslo", "total": 3}]\nresult = await analyze(rows, [{"limit": 1}])'
        self.assertEqual(self.answer(code)["result"], ROWS)
        self.assertEqual(self.host.started, [("analyze", {"data": ROWS, "request": {"steps": STEPS}, "line": 2})])

    def test_a_text_or_a_number_is_no_data(self):
        for data, kind in (("'/etc/passwd'", "str"), ("5", "int")):
            said = self.refused(f"await analyze({data}, [])")
            self.assertIn(f'data of analyze must be a list of rows, not {kind}; file="sales.csv" is a file', said)
        self.assertIn("data of inputs['more'] must be", self.refused("await analyze([], [], inputs={'more': 'a.csv'})"))

    def test_a_file_or_a_handle_stands_in_the_place_of_data(self):
        asked = {"request": {"steps": STEPS}, "line": 1}
        for code, source in (
            ('file="a.csv"', {"file": "a.csv"}),
            ('file="a.txt", format="csv"', {"file": "a.txt", "format": "csv"}),
            ('handle="abc"', {"handle": "abc"}),
            ('file="/results/abc.json"', {"handle": "abc"}),
        ):
            self.assertEqual(self.sent(f'await analyze({code}, steps=[{{"limit": 1}}])'), source | asked)

    def test_further_inputs_are_data_or_say_where_it_is(self):
        code = """
        more = {"a": [{"x": 1}], "b": {"file": "b.csv"}, "c": {"x": [1]}}
        await analyze([{"x": 1}], {"join": {"with": "a", "on": "x"}}, inputs=more)
        """
        request = self.sent(code)
        expected = {"a": {"data": [{"x": 1}]}, "b": {"file": "b.csv"}, "c": {"data": {"x": [1]}}}
        self.assertEqual(request["others"], expected)
        self.assertEqual(request["request"], {"steps": [{"join": {"with": "a", "on": "x"}}]})

    def test_the_other_style_of_request_is_passed_on(self):
        request = self.sent('await analyze([1], analysis_type="describe", parameters={"fields": ["x"]})')
        self.assertEqual(request["request"], {"analysis_type": "describe", "parameters": {"fields": ["x"]}})

    def test_the_path_to_rows_inside_is_passed_on_in_both_styles(self):
        request = self.sent('await analyze({"a": [1]}, [{"limit": 1}], data_field="a")')
        self.assertEqual(request["request"], {"steps": STEPS, "data_field": "a"})
        request = self.sent('await analyze(handle="abc", analysis_type="describe", data_field="a.b")')
        self.assertEqual(request["request"], {"analysis_type": "describe", "data_field": "a.b"})

    def test_data_of_any_plain_kind_is_sent_whole(self):
        code = r"""
        import collections, types
        class Money(int): pass
        row = collections.OrderedDict(big=2**70, money=Money(3), pair=(1, 2), text="\ud800ü", number=0.1)
        await analyze([row, types.MappingProxyType({"none": None, "yes": True})], [])
        """
        row = {"big": 2**70, "money": 3, "pair": [1, 2], "text": "\ufffdü", "number": 0.1}
        self.assertEqual(self.sent(code)["data"], [row, {"none": None, "yes": True}])

    def test_data_that_json_cannot_carry_is_named_by_its_place(self):
        self.assertIn("data[1].x is nan", self.refused('await analyze([{"x": 1}, {"x": float("nan")}], [])'))
        dated = 'import datetime\nawait analyze([{"d": datetime.date(2026, 1, 2)}], [])'
        self.assertIn("data[0].d is a date", self.refused(dated))
        self.assertIn("contains itself", self.refused("rows = []\nrows.append(rows)\nawait analyze(rows, [])"))

    def test_wrong_arguments_are_named_before_anything_is_sent(self):
        for arguments, message in (
            ("steps=[]", "analyze takes one of data, file or handle, but got none"),
            ('[1], [], file="a"', "analyze takes one of data, file or handle, not data and file together"),
            ("[1]", "steps of analyze must be a list such as"),
            ('[1], "filter"', "not str"),
            ('[1], [], analysis_type="x"', "not both"),
            ("[1], parameters={}", "need an analysis_type"),
            ("file=1, steps=[]", "file of analyze must be text, not int"),
            ("[1], [], data_field=1", "data_field of analyze must be text, not int"),
            ("[1], [], inputs=[1]", "inputs of analyze must be a dict"),
            ("[1], [], inputs={1: []}", "each name in inputs of analyze must be text"),
        ):
            self.assertIn(message, self.refused(f"await analyze({arguments})"), arguments)

    def test_a_failure_is_a_tool_error_that_knows_its_step_and_line(self):
        def fail(request):
            message, hint = "step 2 (filter): no field `toal`; write total", "write total"
            raise Refusal(message=message, code="GM-2002", kind="analysis", step=2, hint=hint)

        code = """
        try:
            await analyze([1], [])
        except ToolError as error:
            result = [type(error).__name__, error.step, error.code, error.line, error.hint, str(error)]
        """
        said = "step 2 (filter): no field `toal`; write total"
        expected = ["AnalysisError", 2, "GM-2002", 3, "write total", said]
        self.assertEqual(self.answer(code, fail)["result"], expected)
        error = self.answer("await analyze([1], [])", fail)["error"]
        self.assertEqual((error["kind"], error["line"], error["hint"]), ("tool", 1, "write total"))

    def test_data_that_is_too_large_is_refused_with_another_way(self):
        code = 'await analyze(["x" * 17_000_000], [])'
        error = self.answer(code)["error"]
        self.assertEqual((error["kind"], error["code"], self.host.started), ("tool", "GM-1208", []))
        self.assertIn("write it to /workspace and pass file=", error["message"])

    def test_one_that_is_never_awaited_is_named(self):
        error = self.answer("analyze([1], [])\n1")["error"]
        self.assertEqual(error["message"], "analyze(...) on line 1 was never awaited, so it wasn't sent")

    def test_it_is_importable_with_its_error(self):
        self.addCleanup(sys.modules.pop, "gristmill")
        namespace.make_importable()
        code = """
        from gristmill import analyze as again, AnalysisError
        [again is analyze, issubclass(AnalysisError, ToolError)]
        """
        self.assertEqual(self.answer(code)["result"], [True, True])


if __name__ == "__main__":
    unittest.main()
