"""What programs find without an import, and the gateway's names."""

import builtins
import dis
import importlib
import io
import os
import pathlib
import pkgutil
import sys
import types
import unittest

import gristmill_guest
from gristmill_guest import everyday, files, gateway_names, namespace, tree_paths
from tests.fake_host import FakeHost, Session, run
from tests.places import BesideTrees, InAWorkspace

# Loaded only in the component.
IMAGE_ONLY = ("resources",)


def result_of(code, fake=None, **options):
    outcome = run(code, fake, **options)
    assert outcome["ok"], outcome
    return outcome["result"]


class WithoutImports(unittest.TestCase):
    def test_everyday_modules_are_there(self):
        code = """
[re.sub("a", "b", "a"), math.floor(1.5), time.time() > 0, random.Random(1).random() < 1, sys.maxsize > 0,
 collections.Counter("aa")["a"], list(itertools.chain([1], [2])), functools.reduce(max, [1, 2]), os.sep,
 statistics.mean([1, 3]), Path("a/b").name, Counter("aa")["a"], defaultdict(list)["x"], Decimal("1.5") * 2]
"""
        expected = ["b", 1, True, True, True, 2, [1, 2], 2, "/", 2, "b", 2, [], "3.0"]
        self.assertEqual(result_of(code), expected)

    def test_functions_classes_and_imported_files_find_them(self):
        code = "def f():\n    return math.floor(2.5)\nclass A:\n    x = re.escape('.')\n[f(), A.x]"
        self.assertEqual(result_of(code), [2, "\\."])

    def test_own_names_and_context_come_first(self):
        self.assertEqual(result_of("re = 5\nre"), 5)
        self.assertEqual(result_of("time + 1", context={"time": 1}), 2)
        self.assertEqual(result_of("[n for n in globals() if n in ('re', 'math', 'list_tools')]"), [])

    def test_datetime_is_what_the_program_uses_it_as(self):
        for code in (
            "datetime.now().year > 2000",
            "datetime(2020, 1, 1).year == 2020",
            "datetime.fromisoformat('2020-01-01').year == 2020",
            "datetime.datetime(2020, 1, 1).year == 2020",
            "datetime.date(2020, 1, 1).year == 2020",
            "import datetime\ndatetime.datetime.now().year > 2000",
            "from datetime import datetime, date\ndatetime.now().year > 2000",
            "from datetime import date, datetime\ndatetime.now() - timedelta(days=1) < datetime.now()",
            "import os, datetime\ndatetime.date.today().year > 2000",
        ):
            with self.subTest(code=code):
                self.assertIs(result_of(code), True)
        self.assertEqual(result_of("datetime", context={"datetime": "given"}), "given")

    def test_a_session_keeps_its_own(self):
        with Session() as session:
            session.run("math = 3")
            self.assertEqual(session.result("[math, re.escape('a')]"), [3, "a"])

    def test_the_guest_itself_uses_none_of_them(self):
        """Its modules have builtins of their own in the component."""
        ours = set(everyday.MODULES) | {name for names in everyday.CLASSES.values() for name in names.split()}
        ours |= set(gateway_names.NAMES)
        for found in pkgutil.iter_modules(gristmill_guest.__path__):
            if found.name in IMAGE_ONLY or found.name in ("image", "stdlib"):
                continue
            module = importlib.import_module(f"gristmill_guest.{found.name}")
            with open(module.__file__, encoding="utf-8") as file:
                code = compile(file.read(), module.__file__, "exec")
            used = {name for name in globals_of(code) if name in ours and name not in vars(module)}
            self.assertEqual(used, set(), found.name)


def globals_of(code):
    """The names that code reads from its module or the builtins, in functions as well."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from globals_of(constant)


class GatewayNames(BesideTrees):
    tree = {
        "servers/weather/forecast.py": "async def forecast(*, city: str) -> dict:\n    ...\n",
        "servers/weather/current.py": "async def current(*, city: str) -> dict:\n    ...\n",
        "servers/shop/list_orders.py": "async def list_orders() -> list:\n    ...\n",
    }

    def setUp(self):
        super().setUp()
        places = ((gateway_names, "WORKSPACE", self.root), (files, "RESULTS", self.root + "/results"))
        for module, name, value in places:
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)

    def test_tools_are_listed_and_defined(self):
        for code, expected in (
            ("list_servers()", ["shop", "weather"]),
            ("await list_servers()", ["shop", "weather"]),
            ("list_tools()", ["shop.list_orders", "weather.current", "weather.forecast"]),
            ("list_tools('Weather')", ["weather.current", "weather.forecast"]),
            ("get_tool_code('forecast') == describe_tool('weather.forecast')", True),
            ("get_tool_definition('forecast', server='weather') == describe_tool('forecast')", True),
            ("get_tool_definition(server='weather').count('async def')", 2),
            ("from gristmill import list_tools as lt\nlen(lt())", 3),
        ):
            namespace.make_importable()
            self.addCleanup(sys.modules.pop, "gristmill", None)
            with self.subTest(code=code):
                self.assertEqual(result_of(code), expected)

    def test_an_unknown_server_is_answered_with_those_there_are(self):
        message = run("list_tools('mail')")["error"]["message"]
        self.assertEqual(message, 'there is no server "mail"; there are: shop, weather')

    def test_search_takes_the_detail_as_over_mcp(self):
        fake = FakeHost(search=lambda request: {"hits": [], "text": request["detail"], "shown": 0, "total": 0})
        self.assertEqual(result_of("str(search_tools('x', detail_level='names'))", fake), "names")

    def test_files_are_written_read_and_listed(self):
        for code, expected in (
            ("write_workspace_file('out/a.txt', 'text')", 4),
            ("read_workspace_file('out/a.txt')", "text"),
            ("read_workspace_file('out/a.txt', offset=1, limit=2)", "ex"),
            ("await read_workspace_file('out/a.txt', encoding='base64')", "dGV4dA=="),
            ("write_workspace_file('b.bin', 'AAE=', encoding='base64')", 2),
            ("list_workspace_files('out/*')", ["out/a.txt"]),
            ("'b.bin' in await list_workspace_files()", True),
        ):
            with self.subTest(code=code):
                self.assertEqual(result_of(code), expected)

    def test_a_result_is_read_by_path(self):
        files.write_file("results/h1.json", '{"rows": [{"name": "a"}, {"name": "b"}], "text": "abc"}')
        for code, expected in (
            ("read_result('h1')['text']", "abc"),
            ("read_result('/results/h1.json', 'rows[1].name')", "b"),
            ("await read_result('h1', 'rows', offset=1)", [{"name": "b"}]),
            ("read_result('h1', '$.text', limit=2)", "ab"),
            ("read_result('h1', limit=1)", {"rows": [{"name": "a"}, {"name": "b"}]}),
        ):
            with self.subTest(code=code):
                self.assertEqual(result_of(code), expected)
        self.assertIn("its keys are rows, text", run("read_result('h1', 'row')")["error"]["message"])

    def test_analysis_takes_the_same_as_over_mcp(self):
        fake = FakeHost(analysis=lambda request: request["request"]["steps"])
        code = "await execute_analysis(data='[{\"a\": 1}]', steps='[{\"limit\": 1}]', max_output_tokens=100)"
        self.assertEqual(result_of(code, fake), [{"limit": 1}])


class TreePaths(InAWorkspace):
    def setUp(self):
        super().setUp()
        os.makedirs("place/servers/weather")
        os.makedirs("place/results")
        os.mkdir("workspace")
        for name, text in (("servers/weather/forecast.py", "def forecast"), ("results/h1.json", "{}")):
            pathlib.Path("place", name).write_text(text)
        os.chdir("workspace")
        for module, name, value in (
            (files, "ROOT", self.root + "/place/"),
            *((module, "open", module.open) for module in (builtins, io)),
            *((os, name, getattr(os, name)) for name in ("stat", "listdir", "scandir")),
        ):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        tree_paths.install()

    def test_relative_paths_reach_the_trees(self):
        for code, expected in (
            ("open('servers/weather/forecast.py').read()", "def forecast"),
            ("open('./servers/weather/forecast.py', 'rb').read()", "def forecast"),
            ("Path('servers/weather/forecast.py').read_text()", "def forecast"),
            ("os.listdir('servers')", ["weather"]),
            ("[entry.name for entry in os.scandir('servers/weather')]", ["forecast.py"]),
            ("[path.name for path in Path('servers').iterdir()]", ["weather"]),
            ("os.path.isdir('servers/weather') and Path('servers').exists()", True),
            ("glob.glob('servers/*')", ["servers/weather"]),
            ("open('results/h1.json').read()", "{}"),
            ("os.path.exists('results/h1.json')", True),
        ):
            with self.subTest(code=code):
                self.assertEqual(result_of(code), expected)

    def test_the_workspace_comes_first_and_is_written_to(self):
        self.assertIs(result_of("os.path.exists('results')"), False)
        code = "if not os.path.exists('results'):\n    os.makedirs('results')\n"
        code += "open('results/h1.json', 'w').write('mine')\n"
        self.assertEqual(result_of(code + "open('results/h1.json').read()"), "mine")
        self.assertEqual(run("open('servers/x.py', 'w')")["error"]["type"], "FileNotFoundError")
        self.assertEqual(result_of("write_file('servers/a/b.txt', 'x')\nos.listdir('servers')"), ["a"])

    def test_what_is_nowhere_is_not_found(self):
        for code in ("open('servers/none')", "open('none')", "os.listdir('servers/none')", "os.stat('none')"):
            self.assertEqual(run(code)["error"]["type"], "FileNotFoundError", code)


if __name__ == "__main__":
    unittest.main()
