import unittest

from gristmill_guest import files, missing, tool_imports
from tests.fake_host import FakeHost, Refusal, run
from tests.places import BesideTrees

STUB = '''
async def search_records(
    *,
    query: str | None = None,
    type: str,
    limit: int = 10,
) -> list[Record]:
    """Finds records."""
    ...
'''


def error_of(code, host=None):
    outcome = run(code, host)
    assert not outcome["ok"], outcome
    return outcome["error"]


class WithServers(BesideTrees):
    tree = {
        "servers/weather/forecast.py": "",
        "servers/weather-gemini/forecast.py": "",
        "servers/weather-gemini/only-here.py": "",
        "servers/weather3/forecast.py": "",
        "servers/weather4/forecast.py": "",
        "servers/github/createIssue.py": "",
        "servers/calendar/now.py": "",
        "servers/crm/search_records.py": STUB,
        "servers/crm/ping.py": "async def ping() -> str: ...",
        "servers/crm/unclear.py": "def (",
    }

    def test_a_name_that_was_not_imported_is_answered_with_its_import(self):
        for code, hint in (
            ("create_issue(title='x')", "for the tool, write: from servers.github import create_issue"),
            ("only_here()", "for the tool, write: from servers.weather_gemini import only_here"),
            (
                "await forecast(city='x')",
                "for the tool, write: from servers.weather import forecast"
                " (or from servers.weather_gemini, servers.weather3 and 1 more)",
            ),
            (
                "await github.create_issue()",
                "for the server, write: from servers import github (or: from servers.github import tool)",
            ),
            (
                "import weather_gemini",
                "for the server, write: from servers import weather_gemini (or: from servers.weather_gemini import tool)",
            ),
            ("from only_here import x", "for the tool, write: from servers.weather_gemini import only_here"),
            ("await servers.weather.forecast()", "write: import servers"),
        ):
            with self.subTest(code=code):
                self.assertEqual(error_of(code)["hint"], hint)

    def test_what_a_hint_says_works(self):
        for line in (
            "from servers import weather_gemini",
            "from servers.weather_gemini import forecast",
            "from servers.github import create_issue",
            "import servers\nservers.weather.forecast",
        ):
            self.assertTrue(run(line)["ok"], line)

    def test_a_module_of_the_library_is_meant_before_a_server(self):
        self.assertNotIn("server", error_of("calendar.month(1)")["hint"] or "")

    def test_an_import_with_a_hyphen_is_answered_with_one_that_works(self):
        for code, hint in (
            ("from servers.weather-gemini import forecast", "write: from servers.weather_gemini import forecast"),
            ("x = 1\nimport servers.weather-gemini as w", "write: import servers.weather_gemini as w"),
            (
                "from servers.weather-gemini import only-here, forecast",
                "write: from servers.weather_gemini import only_here, forecast",
            ),
            ("from servers.2fa import check", "write: from servers._2fa import check"),
            ("from servers.weather import", None),
            ("from own-package import x", None),
        ):
            with self.subTest(code=code):
                error = error_of(code)
                self.assertEqual((error["kind"], error["hint"]), ("syntax", hint))

    def test_arguments_without_names_are_answered_with_the_names(self):
        told = "pass the arguments by name: search_records(type=\u2026); it takes type (required), query, limit"
        for code, message in (
            ("from servers.crm import search_records\nawait search_records('account')", told),
            ("from servers.crm import search_records\nawait search_records('account', 3)", told),
            ("from servers.crm import search_records\nawait search_records({}, {})", told),
            ("import servers.crm.search_records as f\nawait f('account')", told),
            (
                "from servers import crm\nawait crm.searchRecords('account')",
                told.replace("search_records", "searchRecords"),
            ),
            ("from servers.crm import ping\nawait ping(1)", "ping takes no arguments"),
            (
                "from servers.crm import unclear\nawait unclear(1)",
                "pass the arguments by name, such as unclear(name=value)",
            ),
        ):
            with self.subTest(code=code):
                error = error_of(code)
                self.assertEqual((error["type"], error["message"]), ("TypeError", message))

    def test_long_lists_of_parameters_are_cut(self):
        many = ", ".join(f"p{number}: str" for number in range(200))
        files.write_file("servers/crm/many.py", f"async def many(*, {many}) -> str: ...")
        message = error_of("from servers.crm import many\nmany(1)")["message"]
        self.assertTrue(message.endswith("p11 (required), \u2026"), message)
        self.assertLess(len(message), 400)

    def test_a_forgotten_await_names_the_function_that_was_called(self):
        code = "from servers.crm import searchRecords\n"
        error = error_of(code + "searchRecords(type='x')\nresult = 1")
        self.assertEqual(
            (error["message"], error["hint"]),
            (
                "searchRecords(...) on line 2 was never awaited, so it wasn't sent",
                "write: await searchRecords(...)",
            ),
        )
        for use, message in (
            (
                "searchRecords(type='x')['id']",
                "this is a tool call that was not awaited: write (await searchRecords(...))",
            ),
            (
                "searchRecords(type='x').id",
                'a tool call has no attribute "id" before it is awaited: write (await searchRecords(...))',
            ),
        ):
            self.assertEqual(error_of(code + use)["message"], message)

    def test_an_unknown_tool_is_not_said_to_be_named_above(self):
        self.assertEqual(error_of("await callMCPTool('nothing.like_it')", _unknown())["hint"], None)


class WithoutServers(BesideTrees):
    def test_it_is_said_that_there_are_none(self):
        message = missing.ExplainingFinder(set()).message("servers")
        self.assertEqual(message, f"No module named 'servers': {tool_imports.NO_SERVERS}")
        self.assertEqual(error_of("await callMCPTool('crm.x')", _unknown())["hint"], tool_imports.NO_SERVERS)
        self.assertEqual(error_of("describe_tool('crm.x')")["hint"], tool_imports.NO_SERVERS)

    def test_a_server_that_is_disabled_is_said_to_be(self):
        files.write_file("servers/index.md", "# Servers")
        files.write_file("servers/.out_of_use.json", '{"servers": ["google-mail"]}')
        said = "the server `google-mail` is disabled or not approved; the user can check with `gristmill list`"
        for code in (
            "from servers.google_mail import send",
            "import servers.google_mail",
            "from servers import google_mail",
            "import servers.google_mail.send",
        ):
            self.assertIn(said, str(error_of(code)), code)
        self.assertIn(tool_imports.NO_SERVERS, str(error_of("import servers.crm")))

    def test_so_it_is_in_an_empty_tree(self):
        files.write_file("servers/index.md", "# Servers")
        for code in ("from servers.crm import x", "import servers.crm", "from servers import crm"):
            self.assertIn(tool_imports.NO_SERVERS, str(error_of(code)), code)


def _unknown():
    def refuse(_arguments):
        message = 'there is no tool `crm.x`; search_tools("...") finds what there is'
        raise Refusal(message=message, code="GM-1401", kind="unknown_tool")

    return FakeHost(**{"crm.x": refuse, "nothing.like_it": refuse})


if __name__ == "__main__":
    unittest.main()
