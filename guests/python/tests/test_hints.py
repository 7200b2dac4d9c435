"""Faulty programs as models write them, by kind, each with the line that helps. One row is one program.

The expected text is part of the hint; `said` rows expect it in the message.
"""

import errno
import os
import struct
import sys
import unittest

from gristmill_guest import files, hints, missing
from tests.fake_host import FakeHost, Session, run
from tests.places import BesideTrees

FORECAST = {"city": "Oslo", "days": [{"high": 21, "low": 9}, {"high": 19, "low": 8}], "unit": "C", "note": None}
TREE = {
    "servers/weather/forecast.py": "async def forecast(*, city: str, days: int = 3) -> dict:\n    ...\n",
    "servers/weather/current.py": "async def current(*, city: str) -> dict:\n    ...\n",
    "servers/google-drive/get_document.py": "async def get_document(*, id: str) -> dict:\n    ...\n",
    "servers/shop/list_orders.py": "async def list_orders() -> list:\n    ...\n",
    "sales.csv": "a,b\n1,2\n",
    "notes/today.md": "x",
}
GET = 'd = await callMCPTool("weather.forecast", city="Oslo")\n'
ROWS = 'rows = await callMCPTool("shop.list_orders")\n'
MAIN = "async def main():\n    return 5\n"


def host():
    return FakeHost(
        **{
            "weather.forecast": lambda arguments: FORECAST,
            "shop.list_orders": lambda arguments: [{"id": 1, "total": 5}, {"id": 2, "total": 7}],
            "text.get": lambda arguments: '{"a": 1}',
            "text.plain": lambda arguments: "It is sunny.",
            "nothing.get": lambda arguments: None,
        }
    )


class Faulty(BesideTrees):
    tree = TREE

    def check(self, *rows):
        for code, expected in rows:
            with self.subTest(code=code):
                outcome = run(code, host())
                self.assertFalse(outcome["ok"], outcome)
                error = outcome["error"]
                self.assertIn(expected, error["hint"] or "no hint", error["message"])
                # Said once, and nothing of ours shows.
                self.assertNotEqual(error["hint"], error["message"])
                self.assertNotIn("gristmill_guest", error["hint"])

    def check_said(self, *rows):
        for code, expected in rows:
            with self.subTest(code=code):
                self.assertIn(expected, run(code, host())["error"]["message"])


class Awaiting(Faulty):
    def test_01_a_function_of_the_program_is_not_awaited(self):
        self.check(
            (MAIN + "main()\nprint(1)", "write: await main(...)"),
            (MAIN + "x = main()\nresult = 1", "write: await main(...)"),
            (MAIN + "result = [main(), main()]", "write: await main(...)"),
            (MAIN + "if __name__ == '__main__':\n    main()\n", "write: await main(...)"),
            ("asyncio.sleep(1)\nresult = 1", "write: await sleep(...)"),
            (MAIN + "x = main()['a']", "write await in front of the call"),
            (MAIN + "for x in main():\n    pass", "write await in front of the call"),
            (MAIN + "json.loads(main())", "write await in front of the call"),
        )

    def test_02_a_tool_call_is_not_awaited(self):
        self.check(
            ('callMCPTool("weather.forecast", city="Oslo")\nresult = 1', "write: await callMCPTool(...)"),
            ("from servers.weather import forecast\nforecast(city='Oslo')\nresult = 1", "write: await forecast(...)"),
        )
        self.check_said(
            ('callMCPTool("weather.forecast")["days"]', "write (await callMCPTool("),
            ("from servers.weather import forecast\nforecast(city='x').days", "write (await forecast("),
            ("from servers.weather import forecast\nfor x in forecast(city='x'): pass", "write (await forecast("),
        )

    def test_03_something_is_awaited_that_is_not_async(self):
        self.check(
            ("await len([])", "remove await"),
            ("await json.loads('1')", "remove await"),
            ("await print('x')", "remove await"),
            (MAIN + "await main", "this is the function itself: call it"),
            (MAIN + "asyncio.run(main)", "this is the function itself: call it"),
            (MAIN + "await asyncio.gather(main, main)", "this is the function itself: call it"),
            ("await [callMCPTool('shop.list_orders')]", "asyncio.gather(*calls)"),
            ("await (callMCPTool('shop.list_orders') for _ in range(2))", "asyncio.gather(*calls)"),
        )

    def test_04_gather_takes_each_call_by_itself(self):
        call = 'callMCPTool("shop.list_orders")'
        self.check(
            (f"await asyncio.gather([{call}, {call}])", "asyncio.gather(*calls), with the star"),
            (f"calls = [{call} for _ in range(3)]\nr = await asyncio.gather(calls)", "with the star"),
            (f"await asyncio.gather({call} for _ in range(2))", "with the star"),
            (f"await asyncio.wait([{call}])", "asyncio.gather(*calls)"),
            (f"asyncio.run([{call}])", "asyncio.gather(*calls)"),
        )

    def test_05_await_and_return_stand_in_the_wrong_place(self):
        self.check(
            ("def f():\n    return await callMCPTool('shop.list_orders')\nf()", "write async def"),
            ("def f():\n    async with x: pass", "write async def"),
            ("def f():\n    async for a in b: pass", "write async def"),
            ("rows = [1]\nreturn rows", "set result = ..."),
            ("asyncio.create_task(asyncio.sleep(0))", "asyncio.run(main())"),
        )


class Tools(Faulty):
    def test_06_a_tool_is_spelled_as_another_client_spells_it(self):
        forecast = "write: from servers.weather import forecast, then await forecast(...)"
        document = "write: from servers.google_drive import get_document, then await get_document(...)"
        self.check(
            ("await mcp__weather__forecast(city='Oslo')", forecast),
            ("await weather__forecast(city='Oslo')", forecast),
            ("await weather_forecast(city='Oslo')", forecast),
            ("await weatherForecast(city='Oslo')", forecast),
            ("await google_drive__get_document(id='1')", document),
            ("await mcp__google_drive__get_document(id='1')", document),
            ("await googleDriveGetDocument(id='1')", document),
        )

    def test_07_tools_are_reached_through_an_object_that_is_not_there(self):
        forecast = "write: from servers.weather import forecast, then await forecast(...)"
        by_name = 'write: await callMCPTool("weather.forecast", {...})'
        self.check(
            ("await tools.weather.forecast(city='Oslo')", forecast),
            ("tools.weather.forecast(city='Oslo')", forecast),
            ("await mcp.weather.forecast(city='Oslo')", forecast),
            ("await client.call_tool('weather.forecast', {'city': 'Oslo'})", by_name),
            ("await mcp.call_tool('weather__forecast', {'city': 'Oslo'})", by_name),
            ("await session.call_tool('forecast', arguments={})", by_name),
            ("await client.callTool(name='forecast')", by_name),
            ("await mcp.call_tool('weather', 'forecast', {})", by_name),
            ("await client.call_tool('weather', 'forcast', {})", by_name),
            ("await client.call_tool('send_mail', {})", 'search_tools("send_mail") finds the name'),
            ("tools.forecast(city='Oslo')", forecast),
            ("await tools.weather(city='Oslo')", "write: from servers import weather"),
        )

    def test_08_a_tool_or_server_is_not_imported(self):
        self.check(
            ("await forecast(city='Oslo')", "for the tool, write: from servers.weather import forecast"),
            ("await weather.forecast(city='Oslo')", "for the server, write: from servers import weather"),
            ("await servers.weather.forecast()", "write: import servers"),
            ("from weather import forecast", "write: from servers import weather"),
            ("from tools.weather import forecast", "write: from servers.weather import forecast"),
            ("from mcp_tools import forecast", "write: from servers.weather import forecast"),
            ("from servers.google-drive import get_document", "write: from servers.google_drive import get_document"),
            ("from servers.weather import forcast", "servers.weather has: current, forecast"),
        )

    def test_09_no_tool_is_called_so(self):
        self.check(
            ("await list_order()", "did you mean shop.list_orders?"),
            ("await send_mail(to='x')", 'find tools with search_tools("send mail")'),
            ("await createIssue(title='x')", 'find tools with search_tools("create issue")'),
        )

    def test_10_arguments_of_a_tool_have_names(self):
        self.check(
            ('callMCPTool("weather.forecast", 1, 2)', "pass the arguments of the tool by name"),
        )
        self.check_said(
            ("from servers.weather import forecast\nawait forecast('Oslo')", "it takes city (required), days"),
            ('await callMCPTool("weather.forecast", "Oslo")', "pass them by name"),
            ('await callMCPTool("weather.forecast", {"a": {1}})', "arguments.a is a set"),
            ('await callMCPTool("weather.forecast", when=datetime.now())', "pass its .isoformat()"),
        )

    def test_11_a_helper_is_spelled_otherwise(self):
        self.check(
            ("readFile('sales.csv')", "write: read_file(...)"),
            ("writeFile('a', 'b')", "write: write_file(...)"),
            ("listDirectory('.')", "write: list_directory(...)"),
            ("searchTools('x')", "write: search_tools(...)"),
            ("await callMcpTool('x')", "write: callMCPTool(...)"),
            ("await call_tool('x', {})", 'write: await callMCPTool("server.tool", {...})'),
            ("await use_mcp_tool('x')", 'write: await callMCPTool("server.tool", {...})'),
            ("getToolDefinition('x')", "write: get_tool_definition(...)"),
            ("list_files('.')", "write: list_directory()"),
            ("save_file('a', 'b')", 'write: write_file("name", text)'),
        )

    def test_36_a_helper_takes_other_arguments(self):
        self.check(
            ("search_tools(q='x')", "search_tools takes: query='', server=None"),
            ("read_file()", "read_file takes: path, encoding='utf-8'"),
            ("write_file('a')", "write_file takes: path, content"),
            ("list_tools(1, 2)", "list_tools takes: server=None"),
        )

    def test_12_a_tool_of_the_gateway_is_no_function_of_a_program(self):
        self.check(
            ("get_execution('x')", "call it over MCP"),
            ("execute_code('1')", "already in a program: write the code directly"),
            ("await execute_python(code='1')", "already in a program: write the code directly"),
        )


class Answers(Faulty):
    def test_13_an_answer_has_other_keys(self):
        keys = "the answer of weather.forecast has city, days, unit, note"
        self.check(
            (GET + "d['day']", f'write "days": {keys}'),
            (GET + "d['Days']", f'write "days": {keys}'),
            (GET + "def f(answer):\n    return answer['forecast_days']\nf(d)", f'write "days": {keys}'),
            (GET + "d['temperature']", keys),
            (GET + "d[0]", keys),
            (GET + "d.pop('unitz')", f'write "unit": {keys}'),
            (GET + "d['days'][0]['hight']", 'write "high": d[\'days\'][0] has high, low'),
            ("(await callMCPTool('weather.forecast', city='Oslo'))['dayz']", f'write "days": {keys}'),
            (
                "[day['hi'] for day in (await callMCPTool('weather.forecast', city='Oslo'))['days']]",
                'write "high": day has high, low',
            ),
            (GET + "[day['max'] for day in d['days']]", "day has high, low"),
            (GET + "for day in d['days']:\n    print(day['hi'])", 'write "high": day has high, low'),
            (ROWS + "sum(row['totals'] for row in rows)", 'write "total": '),
            (ROWS + "sorted(rows, key=lambda r: r['price'])", "the answer of shop.list_orders has id, total"),
            ("d = {}\nd['x']", "d is empty"),
            ("state['cursor']", 'state.get("cursor")'),
        )

    def test_14_members_of_a_dict_are_no_attributes(self):
        self.check(
            (GET + "d.days", 'write d["days"]'),
            (GET + "d.days[0].high", 'write d["days"]'),
            (GET + "d['days'][0].high", "write d['days'][0][\"high\"]"),
            (GET + "d.Days", 'write d["days"]'),
            (GET + "d.temperature", "d is a dict: d has city, days, unit, note"),
            (GET + "d.has_key('x')", "this is Python 3: write key in d"),
            (GET + "for k, v in d.iteritems(): pass", "this is Python 3: write d.items()"),
            (ROWS + "rows.total", 'rows is a list of 2 items; each has id, total: write rows[0]["total"], or loop over it'),
            (ROWS + "rows.get('id')", "rows is a list of 2 items; each has id, total"),
            (ROWS + "rows.length", "this is Python: write len(rows)"),
            (ROWS + "rows.map(lambda r: r)", "this is Python: write [f(x) for x in rows]"),
            (ROWS + "out = []\nout.push(1)", "this is Python: write out.append(...)"),
        )

    def test_15_answers_are_plain(self):
        plain = "tool answers are plain values"
        self.check(
            (GET + "d.content[0].text", plain),
            (GET + "d['content'][0]['text']", plain),
            (GET + "d.structuredContent", plain),
            (GET + "d['result']", plain),
            (GET + "d.json()", plain),
            (ROWS + "rows.content", plain),
            (ROWS + "rows.data", plain),
            ("t = await callMCPTool('text.plain')\nt.content[0].text", plain),
        )

    def test_16_an_answer_is_parsed_already(self):
        already = "it's already parsed: use it as is, without json.loads"
        self.check((GET + "json.loads(d)", already), (ROWS + "for r in json.loads(rows): pass", already))

    def test_17_a_list_or_a_text_is_taken_for_a_dict(self):
        self.check(
            (ROWS + "rows['total']", 'write rows[0]["total"], or loop over it'),
            (ROWS + "rows['items']", "rows is a list of 2 items; each has id, total"),
            (GET + "d['days']['high']", "write d['days'][0][\"high\"]"),
            ("t = await callMCPTool('text.get')\nt['a']", "if it is JSON, write json.loads(t)"),
            ("t = await callMCPTool('text.plain')\nt['a']", 't is text: "It is sunny."'),
            ("t = await callMCPTool('text.get')\nt.get('a')", "if it is JSON, write json.loads(t)"),
            (GET + "for x in d:\n    print(x['high'])", 'write for x in d["days"]'),
            (GET + "[x['high'] for x in d]", 'write for x in d["days"]'),
            (GET + "d['note']['x']", "d['note'] is None here"),
            (GET + "y = [x for x in d]\nd['note']['x']", "d['note'] is None here"),
            ("by_id = {'a': {'n': 1}, 'b': {'n': 2}}\nfor x in by_id:\n    print(x['n'])", "write for x in by_id.values()"),
            ("d = {'a': 'text', 'b': 1}\nfor x in d:\n    print(x['n'])", "looping over a dict gives its keys: d has a, b"),
            ("d = {'a': [{}], 'b': [{}]}\nfor x in d:\n    print(x['n'])", "gives its keys: d has a, b"),
            ("n = await callMCPTool('nothing.get')\nn['x']", "n is None here"),
            ("n = await callMCPTool('nothing.get')\nn.get('x')", "n is None here"),
        )

    def test_18_there_are_fewer_items(self):
        self.check(
            (ROWS + "rows[5]", "rows has 2 items; the last is rows[-1]"),
            ("rows = []\nrows[0]", "rows is empty"),
            (GET + "d['days'][7]", "d['days'] has 2 items"),
        )

    def test_19_a_text_is_no_json(self):
        self.check(
            ("t = await callMCPTool('text.plain')\njson.loads(t)", 'it starts with "It is sunny."'),
            ("json.loads('')", "the text is empty"),
            ('json.loads("{\'a\': 1}")', "ast.literal_eval"),
        )


class OtherLanguages(Faulty):
    def test_20_javascript_is_no_python(self):
        self.check(
            ("const x = 1", "this is Python: write x = ... without a keyword"),
            ("let rows = await callMCPTool('x');", "this is Python: write rows = "),
            ("var a = 5", "this is Python: write a = "),
            ("const {a, b} = d", "this is Python: unpack the keys one at a time"),
            ("function f(a) {\n  return a\n}", "this is Python: write def f(...):"),
            ("async function main() {\n}", "this is Python: write async def main(...):"),
            ("// a comment\nx = 1", "this is Python: comments start with #"),
            ("x = 1 // the first number", "this is Python: comments start with #"),
            ("/* a */\nx = 1", "this is Python: comments start with #"),
            ("if (a === b) {\n}", "this is Python: write == or !="),
            ("x = a && b", "this is Python: write and, or"),
            ("f = (a) => a + 1", "this is Python: write lambda"),
            ("x = `a ${b}`", "this is Python: write f"),
            ("for (const x of xs) {\n}", "this is Python: "),
            ("x = new Date()", "this is Python: drop new"),
            ("import fs from 'fs'", "this is Python: write from module import name"),
            ("x = d?.a", "this is Python: "),
            ("x = a ? b : c", "this is Python: write a if condition else b"),
            ("i = 0\ni++", "this is Python: write i += 1"),
            ("throw new Error('x')", "this is Python: write raise"),
            ("if True {\n}", "this is Python: blocks start with :"),
            ("if x:\n    pass\nelse if y:\n    pass", "this is Python: write elif"),
            ("x = !done", "this is Python: write not x"),
        )

    def test_mistakes_in_python_are_not_taken_for_javascript(self):
        for code in (
            'print("wow !x"',
            "x = a // b)",
            "x = (1, 2",
            "def f(:\n    pass",
            "x = 'a ? b : c' +",
            "y = 'const' 'a && b' = 1",
            "x = {'a': 1, 'b' 2}  # const => null",
            "for x in [1, 2]\n    pass",
            "print 'hello'",
        ):
            with self.subTest(code=code):
                error = run(code)["error"]
                self.assertEqual((error["kind"], error["hint"]), ("syntax", None))

    def test_21_words_of_javascript(self):
        self.check(
            ("x = null", "write None"),
            ("x = {'a': true}", "write True"),
            ("x = undefined", "write None"),
            ("console.log('x')", "write print(...)"),
            ("JSON.parse('1')", "json.loads(...)"),
            ("JSON.stringify({})", "json.dumps(...)"),
            ("await Promise.all([])", "write await asyncio.gather(*calls)"),
            ("Math.max(1, 2)", "write math, max, min or round"),
            ("Object.keys({})", "d.keys()"),
            ("parseInt('1')", "write int(...)"),
            ("require('fs')", "write import module"),
            ("xrange(3)", "write range"),
            ("x = 'a'\nx.toUpperCase()", "write x.upper()"),
            ("x = 'a'\nx.length", "write len(x)"),
            ("x = 'a'\nx.decode('utf-8')", "x is already text"),
        )

    def test_22_something_was_pasted_along(self):
        self.check(
            ("!pip install requests", "you can't install packages"),
            ("x = 1\npip install pandas", "you can't install packages"),
            ("!ls", "no shell"),
            ("x = 1\ncurl https://example.com", "no shell"),
            ("%matplotlib inline", "notebook magic"),
            (">>> x = 1", "remove the prompts"),
            ('print("a")\n```python\nprint("b")\n```', "remove the Markdown fences"),
        )

    def test_23_characters_are_broken(self):
        self.check(
            ("x = 1\\nprint(x)", "send real line breaks"),
            ('rows = [1]\\nfor r in rows:\\n    print("a")', "send real line breaks"),
            ("print(\u201chello\u201d)", "write plain quotes"),
            ("x\u00a0=\u00a01", "write a plain space"),
            ("x = 'a\nb'", 'write """..."""'),
        )


class Names(Faulty):
    def test_24_a_variable_of_an_earlier_program_is_gone(self):
        self.check(
            ("len(orders_of_last_time)", "keep_variables"),
            ("print(customers)", 'state["customers"]'),
            ("df.head()", 'state["df"]'),
        )

    def test_37_a_function_sets_a_variable_too_late(self):
        self.check(
            ("total = 0\ndef f():\n    total += 1\nf()", "declare it global or nonlocal"),
            ("def f():\n    print(x)\n    x = 1\nf()", "set it first"),
        )

    def test_25_an_import_is_forgotten(self):
        self.check(
            ("mean([1])", "write: from statistics import mean"),
            ("sqrt(2)", "write: from math import sqrt"),
            ("await gather()", "write: from asyncio import gather"),
            ("x: date = date.today()", "write: from datetime import date"),
            ("calendar.month(2024, 1)", "write: import calendar"),
            ("np.array([1])", "numpy isn't in the sandbox: await analyze(rows, steps)"),
            ("pd.DataFrame([])", "pandas isn't in the sandbox: await analyze(rows, steps)"),
            ("pl.DataFrame([])", "polars isn't in the sandbox: await analyze(rows, steps)"),
        )

    @unittest.skipIf(sys.version_info < (3, 12), "older versions suggest only when they print")
    def test_26_a_name_is_misspelled(self):
        self.check(("values = [1]\nvaluse", "'values'"), ("prnt(1)", "'print'"), ("import math\nmath.sqr(2)", "'sqrt'"))

    def test_27_a_module_stands_where_a_value_is_meant(self):
        self.check(
            ("copy([1])", "copy is a module: write copy.copy(...)"),
            ("for row in csv:\n    pass", "csv is the module here: this program never sets a variable csv"),
            ("len(statistics)", "statistics is the module here"),
            ("string[0]", "string is the module here"),
        )

    def test_28_the_module_or_the_class_datetime(self):
        self.check(
            ("import datetime\ndatetime.now()", "write datetime.datetime.now(...), or: from datetime import datetime"),
            ("import datetime\ndatetime.strptime('1', '%d')", "write datetime.datetime.strptime(...)"),
            ("from datetime import datetime\ndatetime.timedelta(days=1)", "from datetime import timedelta"),
            ("from datetime import datetime\ndatetime.datetime.now()", "datetime is the class here"),
        )

    def test_29_names_that_newer_pythons_removed(self):
        self.check(
            ("import collections\ncollections.Mapping", "removed in Python 3.10: write collections.abc.Mapping"),
            ("from collections import Mapping", "removed in Python 3.10: write from collections.abc import Mapping"),
            ("time.clock()", "write time.perf_counter()"),
            ("sys.maxint", "write sys.maxsize"),
            ("json.parse('1')", "write json.loads(...)"),
        )


class FilesAndLimits(Faulty):
    def test_30_a_file_is_not_there(self):
        self.check(
            ("open('sale.csv')", 'did you mean "sales.csv"?'),
            ("open('Sales.CSV')", 'did you mean "sales.csv"?'),
            ("open('missing_report.pdf')", "the working directory has notes, sales.csv, servers"),
            ("Path('notes/todai.md').read_text()", 'did you mean "notes/today.md"?'),
            ("open('data/sales.csv')", 'there is no folder "data"; the working directory has'),
            ("os.listdir('note')", 'did you mean "notes"?'),
        )
        self.check_said(("read_file('sale.csv')", 'did you mean "sales.csv"?'))

    def test_38_a_result_is_not_there(self):
        self.addCleanup(setattr, files, "_exists", files._exists)
        files._exists = lambda path: path == "/results"
        for error, expected in (
            (FileNotFoundError(errno.ENOENT, "No such file", "/results/gone.json"), "no such result: check the handle"),
            (FileNotFoundError(errno.ENOENT, "No such file", "/results/a/b.json"), "no such result: check the handle"),
            (PermissionError(errno.EPERM, "Not permitted", "/results"), "open one by the handle from an answer"),
            (OSError(errno.EROFS, "Read-only", "/results/a.txt"), "this folder is read-only"),
        ):
            self.assertIn(expected, hints.hint_for(error, "exception"))
        # Where no results are kept, there is none.
        files._exists = lambda path: False
        gone = FileNotFoundError(errno.ENOENT, "No such file", "/results/gone.json")
        self.assertIn('there is no folder "/results"', hints.hint_for(gone, "exception"))

    def test_31_a_path_lies_outside(self):
        outside = "rograms see only /workspace and /tmp"
        self.check(
            ("open('/etc/nowhere')", outside),
            ("open('/home/user/data.csv')", outside),
            ("open('/nowhere/sales.csv')", 'did you mean "sales.csv"?'),
            ("os.environ['API_KEY_OF_MINE']", "the sandbox has no environment variables; pass values as context"),
        )

    def test_32_numbers_of_more_than_32_bits(self):
        self.check(
            ("len(range(2**64))", "lengths and counts stop at 2**31 - 1"),
            ("random.choice(range(2**70))", "lengths and counts stop at 2**31 - 1"),
            ("itertools.islice([1], 2**64)", "pass None for no end"),
            ("[0] * 2**64", "lengths and counts stop at 2**31 - 1"),
            ("import array\narray.array('l', [2**64])", "for 64 bits, use 'q' or 'Q'"),
        )
        message = "'l' format requires -2147483648 <= number <= 2147483647"
        self.assertIn("write 'q' or 'Q'", hints.hint_for(struct.error(message), "exception"))

    def test_33_signals_and_locales(self):
        del_alarm = "import signal\ndel signal.alarm\n" if hasattr(os, "kill") else "import signal\n"
        import signal

        self.addCleanup(setattr, signal, "alarm", getattr(signal, "alarm", None))
        self.check((del_alarm + "signal.alarm(5)", "write async with asyncio.timeout(seconds)"))
        self.check(("import locale\nlocale.currency(5)", 'write f"${amount:,.2f}"'))


class Modules(unittest.TestCase):
    """Through the finder that comes last in the component."""

    def check(self, *rows):
        finder = missing.ExplainingFinder({"json", "urllib", "urllib.parse"})
        for name, expected in rows:
            with self.subTest(name=name), self.assertRaises(ModuleNotFoundError) as caught:
                finder.find_spec(name)
            self.assertIn(expected, str(caught.exception))

    def test_34_packages_that_are_not_there(self):
        self.check(
            ("pandas", "await analyze(rows, steps)"),
            ("numpy", "await analyze(rows, steps)"),
            ("polars", "await analyze(rows, steps)"),
            ("requests", "call a tool with callMCPTool"),
            ("bs4", "html.parser"),
            ("pydantic", "dataclasses"),
            ("mcp", "tools are already functions"),
            ("tools", "tools are already functions"),
            ("pytz", "zoneinfo"),
            ("openpyxl", "write CSV"),
            ("jsn", "did you mean 'json'?"),
        )

    def test_35_modules_that_newer_pythons_removed(self):
        self.check(
            ("cgi", "it was removed in Python 3.13; use urllib.parse"),
            ("distutils", "it was removed in Python 3.12; use shutil"),
            ("distutils.util", "it was removed in Python 3.12"),
            ("imp", "it was removed in Python 3.12; use importlib"),
            ("asyncore", "it was removed in Python 3.12; use asyncio"),
            ("telnetlib", "it was removed in Python 3.13"),
            ("urllib2", "it was removed in Python 3.0"),
            ("StringIO", "use io.StringIO"),
        )


class Sessions(Faulty):
    def test_a_session_that_keeps_variables_hints_at_its_own(self):
        with Session(host()) as session:
            session.run("rows = [{'total': 1}]")
            self.assertEqual(session.run("rows[0]['totl']")["error"]["hint"], 'write "total": rows[0] has total')
            self.assertEqual(session.run("other")["error"]["hint"], "no program in this session has set other")


class HintsAreHarmless(Faulty):
    def test_a_large_dict_is_not_searched_to_its_end(self):
        hint = run("d = {f'key{n}': n for n in range(200_000)}\nd['key_5']", host())["error"]["hint"]
        self.assertTrue(hint.startswith('write "key5": d has key0, key1,') and hint.endswith("and 199,980 more"), hint)

    def test_keys_of_the_programs_own_types_are_only_counted(self):
        code = "class K:\n    def __repr__(self): raise SystemExit\nd = {K(): 1, K(): 2}\nd['x']"
        self.assertEqual(run(code, host())["error"]["hint"], "d has 2 keys")

    def test_errors_that_fight_being_looked_at_have_no_hint(self):
        for code in (
            "class E(AttributeError):\n    @property\n    def name(self): raise ValueError\n    obj = name\nraise E()",
            "class K(KeyError):\n    args = property(lambda self: 1 / 0)\nraise K()",
            "class D(dict):\n    def keys(self): raise SystemExit\n    __iter__ = keys\nd = D()\nd['x']",
            "raise NameError('x', name='x' * 10_000)",
        ):
            with self.subTest(code=code):
                outcome = run(code, host())
                self.assertFalse(outcome["ok"])
                self.assertNotIn("damaged", outcome)

    def test_looking_runs_nothing_of_the_program(self):
        code = """
seen = []
class Row(dict):
    def __getitem__(self, key):
        seen.append(key)
        return dict.__getitem__(self, key)
rows = {"a": Row()}
result = seen
rows["a"]["b"]
"""
        self.assertEqual(run(code, host())["result"], ["b"])


if __name__ == "__main__":
    unittest.main()
