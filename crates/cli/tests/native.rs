//! The native engine: a program that runs in WebAssembly runs the same in the machine's own Python, behind the jail's
//! walls; and what only the native engine has. Loudly skipped where the machine has no interpreter for it. The
//! programs of `programs.rs` and the attacks of `hostile.rs` run natively, too.
#![cfg(target_os = "linux")]

mod support;

use gristmill_gateway::domain::{Code, Level, LimitName, Limits};
use gristmill_gateway::ports::ToolFailure;
use gristmill_gateway::{
    EngineId, ExecuteRequest, LatestVariables, NativeEngine, Report, Variables, WorkspaceChoice,
};
use gristmill_testkit::{
    Home, ScriptedTools, TestFolder, World, is_without_namespaces, native_python,
    native_python_with_packages, rerun_without_namespaces,
};
use serde_json::{Value, json};
use support::gristmill;

fn tools() -> ScriptedTools {
    ScriptedTools::new(|call| async move {
        match call.name.as_str() {
            "fail" => Err(ToolFailure::Said("no such order".to_owned())),
            _ => Ok(json!({"called": call.name, "with": call.arguments}).into()),
        }
    })
}

/// A world with both engines of Python, or nothing where this machine can't have the native one.
fn world_with(native: Option<NativeEngine>) -> Option<World> {
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WorkspaceBytes, 20 << 20).unwrap();
    limits.set(LimitName::WorkspaceFiles, 200).unwrap();
    let world = World::new(gristmill()).limits(limits).tools(tools()).native(native?).start();
    match world.execute(ExecuteRequest::of(EngineId::Native, "6 * 7")).error {
        None => Some(world),
        Some(error) if error.message.contains("in namespaces only") => {
            eprintln!("SKIPPED: {}", error.message);
            None
        }
        Some(error) => panic!("the native engine doesn't start: {error:?}"),
    }
}

fn world() -> Option<World> {
    world_with(native_python())
}

fn native(world: &World, code: &str) -> Report {
    world.execute(ExecuteRequest::of(EngineId::Native, code))
}

fn native_result(world: &World, code: &str) -> Value {
    native(world, code).result.expect("a result")
}

/// What a caller reads of a report, as far as it must be the same in both engines.
fn told(report: &Report) -> Value {
    let notes: Vec<&String> = report.notes.iter().filter(|note| !note.contains("native engine")).collect();
    json!({
        "result": report.result,
        "stdout": report.stdout,
        "stderr": report.stderr,
        "notes": notes,
        "error": report.error.as_ref().map(|error| json!({
            "code": error.code.to_string(),
            "message": error.message,
            "line": error.line,
            "traceback": error.traceback.as_deref().map(without_marks),
            "hint": error.hint,
        })),
    })
}

/// Which part of a line is underlined differs from one version of Python to the next.
fn without_marks(traceback: &str) -> Vec<&str> {
    traceback.lines().filter(|line| !line.trim_matches([' ', '~', '^']).is_empty()).collect()
}

#[test]
fn a_program_is_told_the_same_in_both_engines() {
    let Some(world) = world() else { return };
    for code in [
        "1 + 1",
        "print('a'); print('b', end='')\nimport sys\nprint('c', file=sys.stderr)\nresult = {'ü': [1, 2.5, None, True]}",
        "await callMCPTool('shop.list', {'city': 'Oslo'})",
        "await asyncio.gather(*(callMCPTool('shop.one', n=n) for n in range(20)))",
        "try:\n    await callMCPTool('fail')\nexcept ToolError as error:\n    result = str(error)",
        "await callMCPTool('fail')",
        "callMCPTool('shop.list')",
        "state['a'] = {'b': 1}\nresult = state['a'], list(state)",
        "write_file('a/b.txt', 'text')\nresult = read_file('a/b.txt'), list_directory('a')",
        "import os\nopen('x.txt', 'w').write('1')\nresult = os.getcwd(), os.listdir('.'), os.path.realpath('x.txt')",
        "def f(n):\n    return 1 / n\n\nf(0)",
        "import json\njson.loads('{')",
        "x = = 1",
        "def f(n): return f(n + 1)\nf(0)",
        "import requests",
        "import sys\nsys.exit('done badly')",
        "import os\nos._exit(3)",
        "import subprocess\nsubprocess.run(['ls'])",
        "import socket\nsocket.create_connection(('127.0.0.1', 80))",
        "import threading\nseen = []\nt = threading.Thread(target=lambda: seen.append(1))\nt.start()\nt.join()\nresult = seen",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    result = list(pool.map(lambda n: n * n, range(5)))",
        "import yaml, tabulate, dateutil.parser\nresult = yaml.safe_load('a: 1'), str(dateutil.parser.parse('2026-01-02'))",
        "import zoneinfo, datetime\nresult = str(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Oslo')))",
        "import sqlite3\nresult = sqlite3.connect(':memory:').execute('select 1 + 1').fetchall()",
        "input('name? ')",
        "result = b'\\x00\\xff'",
        "result = {1, 2, 3}, (4, 5), {'a': float('inf')}",
        "import atexit\nresult = []\natexit.register(result.append, 1)",
        "from gristmill import callMCPTool as call\nresult = await call('shop.list')",
        "list_tools()",
    ] {
        let wasm = told(&world.execute(ExecuteRequest::of(EngineId::Python, code)));
        assert_eq!(told(&native(&world, code)), wasm, "{code}");
    }
}

#[test]
fn the_answer_says_that_it_was_native() {
    let Some(world) = world() else { return };
    let report = native(&world, "import sys\nsys.platform");
    assert_eq!(report.result, Some(json!("linux")));
    assert_eq!(report.notes, ["ran in the native engine"]);
}

#[test]
fn limits_end_a_native_program_as_they_end_any_other() {
    let Some(world) = world() else { return };
    let limited = |code: &str, name: LimitName, value: u64| {
        let mut limits = world.gateway().limits().clone();
        // Time enough for a busy machine.
        limits.set(LimitName::WallTime, 60_000).unwrap();
        limits.set(name, value).unwrap();
        let request = ExecuteRequest { limits: Some(limits), ..ExecuteRequest::of(EngineId::Native, code) };
        world.execute(request).error.expect("it ends with an error").code
    };
    assert_eq!(limited("while True: pass", LimitName::WallTime, 1000), Code::WallTime);
    assert_eq!(limited("while True: pass", LimitName::CpuTime, 1000), Code::CpuTime);
    assert_eq!(limited("x = bytearray(300 << 20)", LimitName::Memory, 128 << 20), Code::Memory);
    assert_eq!(
        limited("x = []\nwhile True: x.append('y' * 1000)", LimitName::Memory, 128 << 20),
        Code::Memory
    );
    assert_eq!(limited("while True: print('x' * 1000)", LimitName::OutputBytes, 100_000), Code::OutputBytes);
    let filling = "n = 0\nwhile True:\n    open(f'f{n}', 'wb').write(b'x' * 1_000_000)\n    n += 1";
    assert_eq!(limited(filling, LimitName::WorkspaceBytes, 10 << 20), Code::WorkspaceRoom);
    let many = "n = 0\nwhile True:\n    open(f'f{n}', 'wb').close()\n    n += 1";
    assert_eq!(limited(many, LimitName::WorkspaceFiles, 100), Code::WorkspaceRoom);
    let one = native(&world, "import os\nf = open('big', 'wb')\nf.truncate(1 << 40)");
    assert!(one.error.expect("too large").message.contains("File too large"));
}

#[test]
fn a_crash_ends_one_program_and_nothing_else() {
    let Some(world) = world() else { return };
    let crashed = native(&world, "import ctypes\nctypes.string_at(0)").error.expect("it crashes");
    assert_eq!(crashed.code, Code::EngineCrash);
    assert!(crashed.message.contains("signal 11"), "{}", crashed.message);
    assert_eq!(native(&world, "6 * 7").result, Some(json!(42)));
}

#[test]
fn no_two_programs_share_their_chance_or_their_variables() {
    let Some(world) = world() else { return };
    let code = "import builtins, random\nleft = getattr(builtins, 'left', None)\nbuiltins.left = 1\nresult = [random.random(), left]";
    let seen: Vec<Value> = (0..4).map(|_| native(&world, code).result.expect("a result")).collect();
    for (at, one) in seen.iter().enumerate() {
        assert_eq!(one[1], Value::Null);
        assert!(seen[..at].iter().all(|other| other[0] != one[0]), "{seen:?}");
    }
}

#[test]
fn a_session_keeps_its_native_variables_and_its_files() {
    let Some(world) = world() else { return };
    let folder = TestFolder::new("native-session");
    let kept = |engine, code: &str| {
        let variables = Variables::Keep { session: "one".to_owned(), latest: LatestVariables::Here };
        let workspace = WorkspaceChoice::Kept(folder.path().to_owned());
        world.execute(ExecuteRequest { variables, workspace, ..ExecuteRequest::of(engine, code) })
    };
    assert!(kept(EngineId::Native, "n = 41\nwrite_file('n.txt', '41')").success);
    assert_eq!(kept(EngineId::Native, "n + int(read_file('n.txt')[0])").result, Some(json!(45)));
    assert_eq!(std::fs::read_to_string(folder.path().join("n.txt")).unwrap(), "41");
    // Each engine has variables of its own; files are shared.
    let other = kept(EngineId::Python, "result = 'n' in globals(), read_file('n.txt')");
    assert_eq!(other.result, Some(json!([false, "41"])));
}

#[test]
fn a_program_sees_the_interpreter_its_folders_and_nothing_else() {
    let Some(world) = world() else { return };
    let code = "
import os, ctypes
def outcome(act):
    try:
        return act()
    except OSError as error:
        return error.errno
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    return ctypes.get_errno() if libc.syscall(number, *arguments) < 0 else 'went through'
result = {
    'root': outcome(lambda: os.listdir('/')),
    'machine': outcome(lambda: os.listdir('/.machine')),
    'above': outcome(lambda: os.stat('/workspace/../etc/passwd')),
    'processes': outcome(lambda: os.listdir('/proc')),
    'library': outcome(lambda: open(os.__file__, 'a')),
    'link': outcome(lambda: os.symlink('/etc', 'link')),
    'setuid': outcome(lambda: (open('a', 'w').close(), os.chmod('a', 0o4755))),
    'descriptors': [n for n in range(50) if outcome(lambda: os.fstat(n)) != 9],
    'environment': sorted(set(os.environ) - {'HOME', 'LANG', 'PWD', 'TMPDIR'} - {k for k in os.environ if 'THREADS' in k or k.startswith(('MPL', 'NUMBA', 'JOBLIB', 'ARROW', 'JE_ARROW'))}),
}
";
    // Without a view, landlock refuses what a read-only mount would.
    let (machine, library) = if is_without_namespaces() { (2, 13) } else { (13, 30) };
    let expected = json!({
        "root": 13, "machine": machine, "above": 2, "processes": 2, "library": library, "link": 1, "setuid": 1,
        "descriptors": [0, 1, 2, 3], "environment": [],
    });
    assert_eq!(native(&world, code).result, Some(expected));
}

#[test]
fn all_of_this_holds_without_namespaces() {
    let Some(ran) = rerun_without_namespaces(&[]) else { return };
    let told = format!("{}\n{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{told}");
}

#[test]
fn without_namespaces_the_level_or_the_user_has_to_take_it() {
    let Some(mut native) = native_python() else { return };
    if !is_without_namespaces() {
        return;
    }
    native.without_namespaces = false;
    let at = |level: Level, native: &NativeEngine| {
        let world = World::new(gristmill()).limits(Limits::of(level)).native(native.clone()).start();
        let report = world.execute(ExecuteRequest::of(EngineId::Native, "6 * 7"));
        report.error.map(|error| error.message)
    };
    assert_eq!(at(Level::Development, &native), None);
    let refused = at(Level::Production, &native).expect("refused");
    assert!(refused.contains("in namespaces only") && refused.contains("without_namespaces"), "{refused}");
    (native.without_namespaces, native.in_hardened) = (true, true);
    assert_eq!(at(Level::Production, &native), None);
    let refused = at(Level::Hardened, &native).expect("refused");
    assert!(refused.contains("in namespaces only"), "{refused}");
}

#[test]
fn nothing_outside_can_be_reached_by_calls_of_ones_own() {
    let Some(world) = world() else { return };
    let outside = TestFolder::new("native-outside");
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let code = OWN_CALLS.replace("@@OUTSIDE@@", &outside.path().display().to_string());
    let told = native_result(&world, &code);
    let names = |of: &str, is_through: bool| -> Vec<String> {
        let calls = told[of].as_object().expect("calls by their names");
        let found = calls.iter().filter(|(_, got)| (*got == "went through") == is_through);
        found.map(|(name, _)| name.clone()).collect()
    };
    // In a view and a process tree of its own these lead nowhere.
    let harmless = [
        "place of its own",
        "a clock of another process",
        "its session",
        "how it is scheduled",
        "its processors",
        "another handler of names",
    ];
    let expected = if is_without_namespaces() { &[][..] } else { &harmless[..] };
    assert_eq!(names("outside", true), expected, "{told}");
    assert_eq!(told["host"], "sandbox");
    assert_eq!(told["folder"], "/workspace");
    // The controls: the same calls on a file of its own go through, so that each of them was made as it should be.
    assert_eq!(names("own", false), [""; 0], "{told}");
    assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "secret");
}

/// System calls by number, past everything that translates names: on a file outside, and on one of the program's own.
const OWN_CALLS: &str = include_str!("native/own_calls.py");

#[test]
fn files_work_under_their_names_in_every_way_that_programs_use() {
    let Some(world) = world() else { return };
    let code = "
import os, pathlib, shutil, sqlite3, tempfile, zipfile
os.makedirs('/workspace/a/b')
pathlib.Path('/workspace/a/b/c.txt').write_text('text')
os.chdir('a')
seen = [os.getcwd(), os.path.exists('b/c.txt'), os.path.exists('../a/b/c.txt'), open('b/c.txt').read()]
shutil.copy('b/c.txt', '/tmp/copy.txt')
shutil.copytree('/workspace/a', '/tmp/tree')
shutil.move('/tmp/copy.txt', '/workspace/moved.txt')
os.chdir('/workspace')
with sqlite3.connect('/workspace/rows.db') as rows:
    rows.execute('create table t (n)')
    rows.execute('insert into t values (7)')
with zipfile.ZipFile('/tmp/z.zip', 'w') as packed:
    packed.write('/workspace/moved.txt', 'moved.txt')
with tempfile.TemporaryDirectory() as folder:
    open(folder + '/x', 'w').write('x')
with tempfile.NamedTemporaryFile() as file:
    file.write(b'x')
seen += [sqlite3.connect('rows.db').execute('select n from t').fetchall(), zipfile.ZipFile('/tmp/z.zip').namelist()]
seen += [sorted(os.listdir('/workspace')), sorted(os.listdir('/tmp')), os.path.isdir('/results'), os.path.isdir('/servers')]
seen += [os.access('/workspace', os.W_OK), os.access('/skills', os.W_OK), os.path.realpath('a/../moved.txt')]
os.truncate('moved.txt', 2)
shutil.rmtree('/workspace/a')
os.remove('rows.db')
seen += [os.stat('moved.txt').st_size, shutil.disk_usage('/workspace').total > 0, sorted(os.listdir('.'))]
result = seen
";
    let expected = json!([
        "/workspace/a",
        true,
        true,
        "text",
        [[7]],
        ["moved.txt"],
        ["a", "moved.txt", "rows.db"],
        ["tree", "z.zip"],
        true,
        true,
        true,
        false,
        "/workspace/moved.txt",
        2,
        true,
        ["moved.txt"],
    ]);
    let report = native(&world, code);
    assert_eq!(report.result, Some(expected), "{:?}", report.error);
}

#[test]
fn it_is_off_unless_it_is_wanted_and_hardened_needs_a_word_of_its_own() {
    let off = World::new(gristmill()).start();
    let refused = off.execute(ExecuteRequest::of(EngineId::Native, "1")).error.expect("refused");
    assert_eq!(refused.code, Code::BadRequest);
    assert!(refused.hint.expect("a hint").contains("[engines.native]"));
    let Some(native) = native_python() else { return };
    let hardened = World::new(gristmill()).limits(Limits::of(Level::Hardened)).native(native).start();
    let refused = hardened.execute(ExecuteRequest::of(EngineId::Native, "1")).error.expect("refused");
    assert!(refused.message.contains("hardened"), "{}", refused.message);
}

#[test]
fn what_cannot_be_preloaded_is_told_and_harms_nothing_else() {
    let Some(mut native) = native_python() else { return };
    let folder = TestFolder::new("native-broken");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("broken.py", "raise ValueError('it is broken')");
    write(
        "threaded.py",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    );
    write("sound.py", "answer = 42");
    write("crashing.py", "import ctypes\nctypes.string_at(0)");
    native.start.path = vec![folder.path().display().to_string()];
    for (module, words) in [
        ("broken", "can't preload `broken`: ValueError: it is broken"),
        ("threaded", "preloading `threaded` starts threads"),
        ("absent", "can't preload `absent`: ModuleNotFoundError"),
        ("crashing", "Segmentation fault"),
        ("crashing", "crashing.py\", line 2"),
    ] {
        native.start.preload = vec![module.to_owned()];
        let world = World::new(gristmill()).native(native.clone()).start();
        let error = world.execute(ExecuteRequest::of(EngineId::Native, "1")).error.expect("no engine");
        if error.message.contains("in namespaces only") {
            return eprintln!("SKIPPED: {}", error.message);
        }
        assert!(error.message.contains(words), "{}", error.message);
        assert_eq!(world.run("6 * 7").result, Some(json!(42)));
    }
    native.start.preload = vec!["sound".to_owned()];
    let world = World::new(gristmill()).native(native).start();
    let report = world.execute(ExecuteRequest::of(EngineId::Native, "import sound\nsound.answer"));
    assert_eq!(report.result, Some(json!(42)));
}

#[test]
fn what_breaks_at_import_ends_one_program_and_says_where() {
    let Some(mut native) = native_python() else { return };
    let folder = TestFolder::new("native-imports");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("crashing.py", "import ctypes\nctypes.string_at(0)");
    write("broken.py", "raise OSError('libnone.so.1: cannot open shared object file')");
    write("cut.so", "this is no library");
    write(
        "threaded.py",
        "import threading\nseen = []\nthreading.Thread(target=seen.append, args=(1,), daemon=True).start()",
    );
    native.start.path = vec![folder.path().display().to_string()];
    let Some(world) = world_with(Some(native)) else { return };
    let failed = |module: &str| {
        let report = world.execute(ExecuteRequest::of(EngineId::Native, format!("import {module}")));
        report.error.expect("it fails")
    };
    assert_eq!(failed("crashing").code, Code::EngineCrash);
    assert_eq!(failed("broken").message, "libnone.so.1: cannot open shared object file");
    assert!(failed("cut").message.starts_with("cut.so: "), "{:?}", failed("cut"));
    let threaded =
        world.execute(ExecuteRequest::of(EngineId::Native, "import threaded\nresult = threaded.seen"));
    assert_eq!(threaded.result, Some(json!([1])));
    assert!(threaded.notes.iter().any(|note| note.contains("no threads")), "{:?}", threaded.notes);
}

#[test]
fn an_environment_that_is_gone_is_told_and_harms_nothing_else() {
    let Some(mut native) = native_python() else { return };
    native.start.packages = Some("/nowhere/packages".to_owned());
    let world = World::new(gristmill()).native(native).start();
    let error = world.execute(ExecuteRequest::of(EngineId::Native, "1")).error.expect("no engine");
    assert!(
        error.message.contains("the native engine: /nowhere/packages is not a folder"),
        "{}",
        error.message
    );
    assert_eq!(world.run("6 * 7").result, Some(json!(42)));
}

#[test]
fn two_environments_stand_side_by_side() {
    let Some(python) = native_python() else { return };
    let folder = TestFolder::new("native-two");
    let environment = |name: &str| {
        let packages = folder.path().join(name);
        std::fs::create_dir(&packages).unwrap();
        // Of the same name and another version, and one that only this environment has.
        std::fs::write(packages.join("edition.py"), format!("name = {name:?}\ncounted = []\n")).unwrap();
        std::fs::write(packages.join(format!("only_{name}.py")), "").unwrap();
        let mut python = python.clone();
        python.start.packages = Some(packages.display().to_string());
        python.start.preload = vec!["edition".to_owned()];
        python
    };
    let (one, other) = (environment("one"), environment("other"));
    let (Some(one), Some(other)) = (world_with(Some(one)), world_with(Some(other))) else { return };
    let both = |name: &str, code: &str| {
        let world = if name == "one" { &one } else { &other };
        (0..8).map(|_| native_result(world, code)).collect::<Vec<Value>>()
    };
    let code = "import edition\nedition.counted.append(1)\nresult = [edition.name, len(edition.counted)]";
    // At the same time, each with programs of its own.
    std::thread::scope(|scope| {
        let running = ["one", "other"].map(|name| (name, scope.spawn(move || both(name, code))));
        for (name, results) in running {
            assert_eq!(results.join().unwrap(), vec![json!([name, 1]); 8]);
        }
    });
    let missing = native(&one, "import only_other").error.expect("it has its own packages only");
    assert_eq!(missing.code, Code::MissingModule);
    assert_eq!(native(&other, "import only_other").error, None);
    // One breaks, and the other doesn't notice.
    std::fs::remove_dir_all(folder.path().join("one")).unwrap();
    assert_eq!(native(&one, "import only_one").error.expect("it is gone").code, Code::MissingModule);
    assert_eq!(native(&one, "import ctypes\nctypes.string_at(0)").error.unwrap().code, Code::EngineCrash);
    assert_eq!(native_result(&other, code), json!(["other", 1]));
}

#[test]
fn doctor_says_whether_it_stands() {
    let home = Home::new(gristmill(), "native-doctor");
    let looked = || -> Value {
        let told = home.run(&["doctor", "--no-servers", "--json"]);
        serde_json::from_str::<Value>(&told.stdout).expect("JSON")["native_engine"].take()
    };
    assert_eq!(looked()["state"], "off");
    let Some(native) = native_python() else { return };
    let modules = home.path().join("modules");
    std::fs::create_dir(&modules).unwrap();
    std::fs::write(modules.join("broken.py"), "raise ValueError('it is broken')").unwrap();
    let configure = |preload: Value| {
        let text = format!(
            "[engines.native]\nenabled = true\npython = {:?}\npath = [{modules:?}]\npreload = {preload}\n",
            native.start.python
        );
        std::fs::create_dir_all(home.config_file().parent().expect("a folder")).unwrap();
        std::fs::write(home.config_file(), text).unwrap();
    };
    configure(json!([]));
    let well = looked();
    if well["problem"].as_str().is_some_and(|problem| problem.contains("in namespaces only")) {
        return eprintln!("SKIPPED: {}", well["problem"]);
    }
    assert_eq!((&well["state"], &well["modules"], &well["problem"]), (&json!("ok"), &json!(1), &Value::Null));
    assert!(well["python"].as_str().is_some_and(|version| version.starts_with("3.")), "{well}");
    configure(json!(["broken"]));
    let ill = looked();
    assert_eq!(ill["state"], "wrong");
    assert!(ill["problem"].as_str().is_some_and(|problem| problem.contains("it is broken")), "{ill}");
}

#[test]
fn a_figure_in_a_result_becomes_a_picture() {
    let Some(mut native) = native_python() else { return };
    let folder = TestFolder::new("native-figure");
    let text = "class Figure:\n    def savefig(self, file, format, bbox_inches):\n        \
                file.write(bytes.fromhex('89504e470d0a1a0a0000000d4948445200000001000000010806000000'))\n";
    std::fs::write(folder.path().join("matplotlib.py"), text).unwrap();
    native.start.path = vec![folder.path().display().to_string()];
    let Some(world) = world_with(Some(native)) else { return };
    let code = "import matplotlib\nresult = {'figure': matplotlib.Figure(), 'n': 3}";
    let result = native_result(&world, code);
    assert_eq!(result["figure"]["$file"]["media_type"], "image/png", "{result}");
    assert_eq!((&result["figure"]["$file"]["bytes"], &result["n"]), (&json!(29), &json!(3)));
}

#[test]
fn pools_that_a_preloaded_module_has_by_name_work_in_place() {
    let Some(mut native) = native_python() else { return };
    let folder = TestFolder::new("native-pools");
    let text = "from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor\n\
                from multiprocessing.pool import ThreadPool\n\
                def squares(kind):\n    with kind(4) as pool:\n        return list(pool.map(square, range(6)))\n\
                def square(n):\n    return n * n\n";
    std::fs::write(folder.path().join("pooled.py"), text).unwrap();
    native.start.path = vec![folder.path().display().to_string()];
    native.start.preload = vec!["pooled".to_owned()];
    let Some(world) = world_with(Some(native)) else { return };
    let code = "import pooled, concurrent.futures\n\
                kinds = [pooled.ThreadPoolExecutor, pooled.ProcessPoolExecutor, pooled.ThreadPool]\n\
                kinds += [concurrent.futures.ThreadPoolExecutor]\n\
                result = [pooled.squares(kind) for kind in kinds]";
    let report = world.execute(ExecuteRequest::of(EngineId::Native, code));
    let squares = json!([0, 1, 4, 9, 16, 25]);
    assert_eq!(
        (report.result, report.stderr.as_str()),
        (Some(json!([squares, squares, squares, squares])), "")
    );
}

#[test]
fn tables_arrays_and_numbers_become_results() {
    let Some(world) = world_with(native_python_with_packages()) else { return };
    for (code, expected) in [
        (
            "pd.DataFrame({'city': ['Oslo', 'Bergen'], 'n': [1, 2]})",
            json!([{"city": "Oslo", "n": 1}, {"city": "Bergen", "n": 2}]),
        ),
        (
            "pd.DataFrame({'a': ['x', 'y', 'x'], 'n': [1, 2, 3]}).groupby('a').sum()",
            json!([{"a": "x", "n": 4}, {"a": "y", "n": 2}]),
        ),
        ("pd.Series([1.5, None, 3])", json!([1.5, null, 3.0])),
        ("pd.Series({'a': 1, 'b': 2})", json!({"a": 1, "b": 2})),
        (
            "pd.DataFrame({'t': pd.to_datetime(['2026-01-02', None])})",
            json!([{"t": "2026-01-02T00:00:00"}, {"t": null}]),
        ),
        ("np.arange(6).reshape(2, 3)", json!([[0, 1, 2], [3, 4, 5]])),
        (
            "{'sum': np.int64(7), 'mean': np.float32(0.5), 'any': np.bool_(True), 'nan': np.float64('nan')}",
            json!({"sum": 7, "mean": 0.5, "any": true, "nan": "NaN"}),
        ),
        (
            "(await callMCPTool('shop.list', {'n': np.int64(3), 'rows': pd.DataFrame({'a': [1]})}))['with']",
            json!({"n": 3, "rows": [{"a": 1}]}),
        ),
    ] {
        let report = native(&world, &format!("import numpy as np\nimport pandas as pd\nresult = {code}"));
        assert_eq!(report.result, Some(expected), "{code}: {:?}", report.error);
    }
}

#[test]
fn numpy_draws_other_numbers_in_every_program() {
    let Some(world) = world_with(native_python_with_packages()) else { return };
    let code =
        "import numpy as np\nresult = [float(np.random.rand()), float(np.random.default_rng().random())]";
    let (one, other) = (native(&world, code).result.unwrap(), native(&world, code).result.unwrap());
    assert!(one[0] != other[0] && one[1] != other[1], "{one} {other}");
}

#[test]
fn generators_that_were_preloaded_draw_other_numbers_unless_they_were_seeded() {
    let Some(mut python) = native_python_with_packages() else { return };
    let folder = TestFolder::new("native-chance");
    let module = "
import numpy as np
free = [np.random.default_rng(), np.random.Generator(np.random.MT19937()), np.random.RandomState()]
seeded = [np.random.default_rng(7), np.random.RandomState(7)]
";
    std::fs::write(folder.path().join("chance.py"), module).unwrap();
    python.start.path.push(folder.path().display().to_string());
    python.start.preload.push("chance".to_owned());
    let Some(world) = world_with(Some(python)) else { return };
    let draw = |which: &str| {
        native_result(
            &world,
            &format!("import chance\nresult = [float(it.uniform()) for it in chance.{which}]"),
        )
    };
    let (one, other) = (draw("free"), draw("free"));
    for place in 0..3 {
        assert_ne!(one[place], other[place], "{place}");
    }
    assert_eq!(draw("seeded"), draw("seeded"));
}
