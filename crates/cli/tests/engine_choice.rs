//! Which engine a Python program gets: by its call, its session, a rule or a skill, and who may have it; which modules
//! each level lets it import; and packages that were added to the WebAssembly engine.
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use gristmill_gateway::checks::{Guardrails, ModuleLists};
use gristmill_gateway::domain::policy::TokenLimits;
use gristmill_gateway::domain::{Code, Level, Limits};
use gristmill_gateway::history::HistorySettings;
use gristmill_gateway::ids::{Caller, TokenRef};
use gristmill_gateway::service::{PlaceChoice, StartRequest};
use gristmill_gateway::session::{Patience, SessionChoice, SessionSettings};
use gristmill_gateway::skills::{SaveRequest, SkillTest};
use gristmill_gateway::store::{Found, Store};
use gristmill_gateway::{
    DataSettings, EngineChoice, EngineId, ExecuteRequest, NativeEngine, Report, SkillFolders, WasmPackages,
};
use gristmill_testkit::{Home, Ran, TestFolder, World, native_python};
use serde_json::json;
use support::gristmill;

/// Imports a module that only the native engine has.
const HEAVY: &str = "import heavy\nresult = heavy.answer";

/// The native engine with that module; nothing where this machine can't have it.
fn native_with_heavy(folder: &Path) -> Option<NativeEngine> {
    let mut native = native_python()?;
    let modules = folder.join("modules");
    std::fs::create_dir(&modules).unwrap();
    std::fs::write(modules.join("heavy.py"), "answer = 42").unwrap();
    native.start.path = vec![modules.display().to_string()];
    native.modules = ["heavy".to_owned()].into();
    let world = World::new(gristmill()).native(native.clone()).start();
    match world.execute(ExecuteRequest::of(EngineId::Native, HEAVY)).error {
        None => Some(native),
        Some(error) if error.message.contains("in namespaces only") => {
            eprintln!("SKIPPED: {}", error.message);
            None
        }
        Some(error) => panic!("the native engine doesn't start: {error:?}"),
    }
}

/// A gateway that keeps sessions, skills and a history.
fn world(folder: &Path, native: NativeEngine) -> World {
    let mut data = DataSettings::new(Store::open(&folder.join("data")).unwrap());
    data.history = Some(HistorySettings::default());
    data.sessions = Some(SessionSettings::default());
    data.skills = Some(SkillFolders {
        user: Some(folder.join("data/skills")),
        project: None,
        trees: Some(folder.join("cache")),
    });
    World::new(gristmill()).data(data).native(native).start()
}

/// What a program came to, and which engine the history has for it.
fn run(world: &World, start: StartRequest) -> (Arc<Report>, String) {
    let mut follower = world.gateway().service().start(start).expect("started");
    let report = world.block_on(follower.ended());
    let history = world.gateway().history().expect("it is kept");
    let id = follower.id().as_str().to_owned();
    match world.block_on(history.find(&id, None)).expect("read") {
        Found::One(record) => (report, record.language),
        Found::Nothing | Found::Several(_) => (report, "nothing".to_owned()),
    }
}

fn start(engine: Option<EngineChoice>, code: &str) -> StartRequest {
    StartRequest { engine, ..StartRequest::new(Caller::local(), ExecuteRequest::python(code)) }
}

fn in_session(name: &str, engine: Option<EngineChoice>, code: &str) -> StartRequest {
    let session = SessionChoice::Named(name.to_owned());
    let place = PlaceChoice::Session { session, patience: Patience::Refuse, keep_variables: false };
    StartRequest { place, ..start(engine, code) }
}

fn token(name: &str, wasm_only: bool) -> Caller {
    let limits = Some(Arc::new(TokenLimits { wasm_only, ..TokenLimits::default() }));
    let token = TokenRef { name: name.to_owned(), identity: name.to_owned(), limits };
    Caller { token: Some(token), ..Caller::local() }
}

#[test]
fn a_session_keeps_the_engine_that_it_was_opened_with_and_a_rule_gives_others_it() {
    let folder = TestFolder::new("engine-choice");
    let Some(mut native) = native_with_heavy(folder.path()) else { return };
    native.sessions = vec!["reports-*".to_owned()];
    let world = world(folder.path(), native);
    let check = |name: &str, engine: Option<EngineChoice>, expected: &str| {
        let (report, language) = run(&world, in_session(name, engine, HEAVY));
        assert_eq!(language, expected, "{name} {:?}", report.error);
        assert_eq!(report.success, expected == "native", "{:?}", report.error);
        report
    };
    let first = check("tables", Some(EngineChoice::Native), "native");
    assert!(first.notes.iter().any(|note| note.contains("native engine")), "{:?}", first.notes);
    check("tables", None, "native");
    check("tables", Some(EngineChoice::Wasm), "python");
    check("reports-2026", None, "native");
    let plain = check("plain", None, "python");
    let hint = plain.error.as_ref().and_then(|error| error.hint.clone()).unwrap_or_default();
    assert_eq!(hint, "heavy is in the native engine: run it again with engine `native`");
    check("plain", Some(EngineChoice::Auto), "native");
    // For that one program: the session was there before.
    check("plain", None, "python");
}

#[test]
fn a_token_that_may_not_use_it_is_told_so_and_auto_stays_in_webassembly() {
    let folder = TestFolder::new("engine-choice");
    let Some(mut native) = native_with_heavy(folder.path()) else { return };
    native.tokens = Some(vec!["analyst".to_owned()]);
    let world = world(folder.path(), native);
    let check = |caller: Caller, engine: EngineChoice| {
        let (report, language) = run(&world, StartRequest { caller, ..start(Some(engine), HEAVY) });
        let error = report.error.as_ref().map(|error| (error.code, error.hint.clone().unwrap_or_default()));
        (error, language)
    };
    let unlisted = (token("ci", false), "this access token may not use the native engine; ask");
    let limited = (token("analyst", true), "this access token is for WebAssembly only; ask");
    for (caller, why) in [unlisted, limited] {
        let (refused, _) = check(caller.clone(), EngineChoice::Native);
        assert_eq!(refused.map(|(code, _)| code), Some(Code::EngineNotAllowed));
        let (failed, language) = check(caller, EngineChoice::Auto);
        let (code, hint) = failed.expect("no such module");
        assert_eq!((code, language.as_str()), (Code::MissingModule, "python"));
        assert!(hint.contains(&format!("heavy is in the native engine: {why}")), "{hint}");
    }
    for engine in [EngineChoice::Native, EngineChoice::Auto] {
        assert_eq!(check(token("analyst", false), engine), (None, "native".to_owned()));
        assert_eq!(check(Caller::local(), engine), (None, "native".to_owned()));
    }
}

#[test]
fn an_engine_that_is_refused_stays_with_no_session_and_a_rule_refuses_nobody() {
    let folder = TestFolder::new("engine-choice");
    let Some(mut native) = native_with_heavy(folder.path()) else { return };
    native.tokens = Some(Vec::new());
    native.sessions = vec!["reports-*".to_owned()];
    let world = world(folder.path(), native);
    let check = |name: &str, engine: Option<EngineChoice>, expected: Option<Code>| {
        let asked = StartRequest { caller: token("ci", false), ..in_session(name, engine, "result = 1") };
        let (report, _) = run(&world, asked);
        assert_eq!(report.error.as_ref().map(|error| error.code), expected, "{name} {:?}", report.error);
    };
    check("tables", Some(EngineChoice::Native), Some(Code::EngineNotAllowed));
    check("tables", None, None);
    check("reports-2026", None, None);
}

#[test]
fn a_session_at_the_command_line_keeps_no_engine_that_is_off() {
    let home = Home::new(gristmill(), "engine-off");
    let refused = home.run(&["run", "--session", "tables", "--engine", "native", "-c", "1"]);
    assert!(refused.stderr.contains("[engines.native]"), "{}", refused.stderr);
    let next = home.run(&["run", "--session", "tables", "-c", "6 * 7"]);
    assert!(next.stdout.contains("42"), "{} {}", next.stdout, next.stderr);
}

#[test]
fn a_skill_says_what_it_needs_and_whatever_imports_it_gets_that() {
    let folder = TestFolder::new("engine-choice");
    let Some(native) = native_with_heavy(folder.path()) else { return };
    let world = world(folder.path(), native);
    let skills = world.gateway().skills().expect("they are kept").clone();
    let save = |name: &str, code: &str, test: Option<&str>| {
        let test = test.map(|test| SkillTest::Source(test.to_owned()));
        let request =
            SaveRequest { name: name.to_owned(), code: code.to_owned(), test, ..SaveRequest::default() };
        world.block_on(skills.save(request)).expect("saved").notes
    };
    let needing = "import heavy\n\ndef doubled():\n    return 2 * heavy.answer\n";
    let notes = save("doubling", needing, Some("assert doubled() == 84"));
    let expected = "it imports heavy, so programs that import it run in the native engine";
    assert!(notes.iter().any(|note| note == expected), "{notes:?}");
    // By way of another one.
    let through = "from skills.doubling import doubled\n\ndef more():\n    return doubled() + 1\n";
    assert_eq!(save("more_of_it", through, Some("assert more() == 85")), [""; 0]);
    assert_eq!(save("plain_one", "def one():\n    return 1\n", None), [""; 0]);
    let code = "from skills.more_of_it import more\nresult = more()";
    let (report, language) = run(&world, start(None, code));
    assert_eq!((report.result.clone(), language.as_str()), (Some(json!(85)), "native"), "{:?}", report.error);
    let why = "the skill `doubling` imports heavy";
    assert!(report.notes.iter().any(|note| note.contains(why)), "{:?}", report.notes);
    let (_, language) = run(&world, start(None, "from skills.plain_one import one\nresult = one()"));
    assert_eq!(language, "python");
    let told = |start: StartRequest| {
        let error = run(&world, start).0.error.clone().expect("no such module");
        (error.code, error.hint.unwrap_or_default())
    };
    let (code_of, hint) = told(start(Some(EngineChoice::Wasm), code));
    assert_eq!(code_of, Code::MissingModule);
    assert!(hint.starts_with("the skill `doubling` needs heavy, which is in the native engine"), "{hint}");
    let (_, hint) = told(StartRequest { caller: token("ci", true), ..start(None, code) });
    assert!(hint.contains("this access token is for WebAssembly only"), "{hint}");
}

#[test]
fn modules_are_allowed_by_level_and_what_the_user_added_is_allowed_everywhere() {
    let folder = TestFolder::new("engine-choice");
    let Some(mut native) = native_with_heavy(folder.path()) else { return };
    native.in_hardened = true;
    let hardened = ModuleLists {
        allowed_modules: Some(vec!["statistics".to_owned()]),
        denied_modules: vec!["heavy".to_owned()],
    };
    let guardrails = Guardrails {
        allowed_modules: vec!["math".to_owned()],
        levels: BTreeMap::from([(Level::Hardened, hardened)]),
        ..Guardrails::default()
    };
    for level in Level::ALL {
        let is_hardened = level == Level::Hardened;
        let world = World::new(gristmill()).limits(Limits::of(level)).guardrails(guardrails.clone());
        let world = world.native(native.clone()).start();
        for engine in [EngineId::Native, EngineId::Python] {
            let check = |code: &str, is_let: bool| {
                let report = world.execute(ExecuteRequest::of(engine, code));
                let refused = report.error.as_ref().is_some_and(|error| error.code == Code::Guardrail);
                assert_eq!(!refused, is_let, "{level} {engine} {code}: {:?}", report.error);
            };
            check("import math", !is_hardened);
            check("import statistics", is_hardened);
            check("def f():\n    from json import dumps", false);
            check(HEAVY, engine == EngineId::Native && !is_hardened);
        }
        if is_hardened {
            let told =
                world.execute(ExecuteRequest::of(EngineId::Native, HEAVY)).error.expect("it is denied");
            assert!(told.message.contains("`guardrails.hardened.denied_modules`"), "{}", told.message);
        }
    }
}

#[test]
fn packages_that_were_added_are_there_at_every_level_and_cannot_be_changed() {
    let folder = TestFolder::new("wasm-packages");
    let packages = folder.path().join("packages");
    std::fs::create_dir_all(packages.join("added/words")).unwrap();
    let code = "from added.inner import answer\n\ndef fail():\n    raise ValueError('no')\n";
    std::fs::write(packages.join("added/__init__.py"), code).unwrap();
    std::fs::write(packages.join("added/inner.py"), "answer = 42").unwrap();
    std::fs::write(packages.join("added/words/one.txt"), "one").unwrap();
    std::fs::create_dir(packages.join("added-1.5.dist-info")).unwrap();
    std::fs::write(packages.join("added-1.5.dist-info/METADATA"), "Name: added\nVersion: 1.5\n").unwrap();
    let packages = WasmPackages { folder: packages, modules: ["added".to_owned()].into() };
    let using = "
import added, os
words = open(os.path.dirname(added.__file__) + '/words/one.txt').read()
refused = []
for act in (
    lambda: open('/packages/added/__init__.py', 'w'),
    lambda: open('/packages/evil.py', 'w'),
    lambda: os.remove('/packages/added/inner.py'),
    lambda: os.rename('/packages/added', '/packages/other'),
    lambda: os.mkdir('/packages/made'),
):
    try:
        act()
    except OSError:
        refused.append(True)
result = [added.answer, words, refused, added.__file__]";
    for level in Level::ALL {
        let guardrails = Guardrails {
            allowed_modules: vec!["os".to_owned(), "importlib".to_owned()],
            ..Guardrails::default()
        };
        let world = World::new(gristmill()).limits(Limits::of(level)).guardrails(guardrails);
        let world = world.wasm_packages(packages.clone()).start();
        let report = world.run(using);
        let expected = json!([42, "one", [true, true, true, true, true], "/packages/added/__init__.py"]);
        assert_eq!(report.result, Some(expected), "{level} {:?}", report.error);
        if level != Level::Hardened {
            let version =
                world.run("import importlib.metadata\nresult = importlib.metadata.version('added')");
            assert_eq!(version.result, Some(json!("1.5")), "{:?}", version.error);
        }
        let failed = world.run("import added\nadded.fail()").error.expect("it fails");
        let traceback = failed.traceback.unwrap_or_default();
        assert!(traceback.contains("[1 frame in added/__init__.py]"), "{traceback}");
    }
}

#[test]
fn what_nobody_added_is_told_with_the_command_that_adds_it() {
    let world = World::new(gristmill()).start();
    let error = world.run("import unheard_of").error.expect("no such module");
    assert_eq!(error.code, Code::MissingModule);
    assert!(error.message.contains("`gristmill python add --wasm unheard_of`"), "{}", error.message);
    assert_eq!(world.run("import os\nresult = os.path.exists('/packages')").result, Some(json!(false)));
}

/// Makes wheels of `[file name, name, [requirements], {path: text}]`, in the interpreter.
const PACKER: &str = "
import json, sys, zipfile
for wheel, name, needs, files in json.loads(sys.argv[1]):
    version = wheel.split('-')[1]
    about = name + '-' + version + '.dist-info/'
    metadata = 'Metadata-Version: 2.1\\nName: ' + name + '\\nVersion: ' + version + '\\n'
    metadata += ''.join('Requires-Dist: ' + need + '\\n' for need in needs)
    tag = '-'.join(wheel.removesuffix('.whl').split('-')[-3:])
    with zipfile.ZipFile(wheel, 'w') as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(about + 'METADATA', metadata)
        archive.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: ' + tag + '\\n')
        archive.writestr(about + 'RECORD', ''.join(path + ',,\\n' for path in files))
";

#[test]
fn a_package_of_pure_python_is_added_with_what_it_needs_and_imported_in_webassembly() {
    let home = Home::new(gristmill(), "python-add-wasm");
    let wheels = home.path().join("wheels");
    std::fs::create_dir(&wheels).unwrap();
    // For this machine, so that there is one and it isn't pure.
    let compiled = format!("compiled-1.0-py3-none-linux_{}.whl", std::env::consts::ARCH);
    let packages = json!([
        ["greeting-1.0-py3-none-any.whl", "greeting", ["wording"], {
            "greeting/__init__.py": "from wording import word\nhello = word + '!'", "run.pth": "import os",
        }],
        ["wording-1.0-py2.py3-none-any.whl", "wording", [], {"wording.py": "word = 'hello'"}],
        ["fast-1.0-py3-none-any.whl", "fast", ["compiled"], {"fast.py": ""}],
        ["faster-1.0-py3-none-any.whl", "faster", ["compiled"], {"faster.py": ""}],
        ["faster-0.9-py3-none-any.whl", "faster", ["compiled"], {"faster.py": ""}],
        [compiled, "compiled", [], {"compiled.py": ""}],
        ["shadow-1.0-py3-none-any.whl", "shadow", [], {"json/__init__.py": "evil = True"}],
        ["hidden-1.0-py3-none-any.whl", "hidden", [], {"hidden/fast.so": "x", "hidden/__init__.py": ""}],
        ["above-1.0-py3-none-any.whl", "above", [], {"../above.py": "x", "above.py": ""}],
    ]);
    let mut packer = Command::new("python3");
    packer.args(["-I", "-c", PACKER, &packages.to_string()]).current_dir(&wheels);
    if !packer.status().is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no python3");
        return;
    }
    let python = |arguments: &[&str]| {
        let mut command = home.command(&[&["python"], arguments].concat());
        command.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", &wheels).env_remove("PIP_INDEX_URL");
        Ran::of(command.output().unwrap())
    };
    let added = python(&["add", "--wasm", "greeting"]);
    if added.stderr.contains("has no pip") {
        eprintln!("SKIPPED: python3 has no pip");
        return;
    }
    assert_eq!(
        (added.code, added.stdout.as_str()),
        (Some(0), "greeting 1.0\nwording 1.0\n"),
        "{}",
        added.stderr
    );
    let listed = "greeting 1.0\nwording 1.0  (needed by others)\n";
    let list = || python(&["list", "--wasm"]).stdout;
    assert_eq!(list(), listed);
    assert_eq!(python(&["list"]).stdout, "no packages\n");
    assert!(python(&["lock", "--wasm"]).stdout.contains("greeting==1.0 --hash=sha256:"));
    let ran =
        home.run(&["run", "-c", "import greeting, json\nresult = [greeting.hello, hasattr(json, 'evil')]"]);
    assert!(
        ran.stdout.contains("\"hello!\"") && ran.stdout.contains("false"),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(python(&["check", "--wasm"]).stdout, "ok    greeting\n");
    for (name, words) in [
        ("fast", "compiled has no wheel of pure Python"),
        ("faster", "compiled has no wheel of pure Python, so WebAssembly can't run it, and faster needs it"),
        ("shadow", "shadow 1.0 can't be used in WebAssembly: it would bring another module `json`"),
        ("hidden", "hidden 1.0 can't be used in WebAssembly: it has compiled code"),
        ("above", "above 1.0 can't be used in WebAssembly: it has a file outside of its folder"),
        ("pyyaml", "pyyaml is part of the engine already"),
        ("nobody-has-this", "No matching distribution found for nobody-has-this"),
        ("greeting==9", "No matching distribution found for greeting==9"),
        ("./wheels/greeting-1.0-py3-none-any.whl", "isn't a package name"),
    ] {
        let refused = python(&["add", "--wasm", name]);
        assert_eq!(refused.code, Some(2), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{name}: {}", refused.stderr);
        assert_eq!(list(), listed, "{name}");
    }
    assert!(!home.path().join("data/python/wasm/above.py").exists());
    assert_eq!(python(&["remove", "--wasm", "greeting"]).stdout, "no package is left\n");
    let gone = home.run(&["run", "-c", "import greeting"]);
    assert!(gone.stderr.contains("gristmill python add --wasm greeting"), "{}", gone.stderr);
}
