//! Skills end to end: saved by programs and by commands, tried in the sandbox, imported by later programs.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::catalogue::{Catalogue, Lookup, ServerOffer, ToolDefinition};
use gristmill_gateway::domain::skills::SkillName;
use gristmill_gateway::history::{Found, HistoryFilter, HistorySettings};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::skills::{SaveRequest, SkillError, SkillOrigin, SkillTest, Skills};
use gristmill_gateway::store::Store;
use gristmill_gateway::upstream::remove_trees;
use gristmill_gateway::{
    DataSettings, ExecuteRequest, Folders, Gateway, PoolSettings, Report, SkillFolders, WorkerCommand,
};
use gristmill_testkit::{Home, ScriptedTools, TestFolder};
use serde_json::{Value, json};
use support::gristmill;
use tokio::runtime::Runtime;

/// One tool of the server `crm`.
fn lookup(definition: &str) -> Lookup {
    let definition = ToolDefinition::from_text(definition).expect("a definition");
    let tools = vec![Arc::new(definition)];
    let offer = ServerOffer { name: "crm".to_owned(), tools, ..ServerOffer::default() };
    Lookup::new(Arc::new(Catalogue::new(vec![offer])))
}

/// One tool, `crm.find_deals`, which gives its arguments back.
fn one_tool() -> ScriptedTools {
    let tools = ScriptedTools::new(|call| async move { Ok(Value::Object(call.arguments).into()) });
    tools.lookup(lookup(r#"{"name":"find_deals","inputSchema":{"properties":{"city":{"type":"string"}}}}"#))
}

/// A gateway with skills, in which one program runs at a time.
struct World {
    runtime: Runtime,
    gateway: Option<Gateway>,
    skills: Skills,
    folder: TestFolder,
}

impl World {
    fn new(name: &str) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let folder = TestFolder::new(name);
        let mut data = DataSettings::new(Store::open(&folder.path().join("data")).expect("a store"));
        data.history = Some(HistorySettings::default());
        data.skills = Some(SkillFolders {
            user: Some(folder.path().join("data/skills")),
            project: None,
            trees: Some(folder.path().join("cache")),
        });
        let cache = Folders::from_environment().expect("folders").cache;
        let folders = Folders { cache, scratch: folder.path().join("scratch") };
        let builder = Gateway::builder(WorkerCommand::new(gristmill()))
            .folders(folders)
            .data(data)
            .tools(Arc::new(one_tool()))
            .pool(PoolSettings { waiting: 1, ..PoolSettings::default() })
            .concurrent_executions(1)
            .queue(8, Duration::from_secs(60));
        let gateway = runtime.block_on(builder.build()).expect("a gateway");
        let skills = gateway.skills().expect("they are kept").clone();
        Self { runtime, gateway: Some(gateway), skills, folder }
    }

    fn run(&self, code: &str) -> Report {
        self.run_as(Some(Owner::local()), code)
    }

    /// For an owner that may change skills, or for somebody who may not.
    fn run_as(&self, changes_skills_as: Option<Owner>, code: &str) -> Report {
        let gateway = self.gateway.as_ref().expect("it has not ended");
        let mut request = ExecuteRequest::python(code);
        request.capabilities.changes_skills_as = changes_skills_as;
        self.runtime.block_on(gateway.execute(request).finish())
    }

    fn result(&self, code: &str) -> Value {
        let report = self.run(code);
        assert!(report.success, "{code}\n{:?}", report.error);
        report.result.unwrap_or(Value::Null)
    }

    fn error(&self, code: &str) -> String {
        let report = self.run(code);
        report.error.unwrap_or_else(|| panic!("succeeded: {code} gave {:?}", report.result)).message
    }

    fn save(&self, name: &str, code: &str, test: Option<SkillTest>) -> Result<i64, SkillError> {
        let request =
            SaveRequest { name: name.to_owned(), code: code.to_owned(), test, ..SaveRequest::default() };
        self.runtime.block_on(self.skills.save(request)).map(|saved| saved.version)
    }

    fn file(&self, path: &str) -> PathBuf {
        self.folder.path().join("data/skills").join(path)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            self.runtime.block_on(gateway.shutdown());
        }
        remove_trees(&self.folder.path().join("cache/skill-trees"));
    }
}

const KEEP_OPEN: &str = "\
'''Deals that are open, by city.'''

from servers.crm import find_deals
import statistics

async def open_deals(city: str, limit=10):
    '''Finds the open deals of a city.'''
    found = await find_deals(city=city)
    return [found] * limit

def mean(*values, **options):
    return statistics.mean(values)

def _hidden(): pass
";

#[test]
fn a_program_saves_a_skill_and_a_later_one_imports_it() {
    let world = World::new("skills-saved");
    // The only place is taken by the program that saves: its test must not wait for it.
    let saved = world.result(
        r#"
code = "def double(n):\n    '''Doubles a number.'''\n    return 2 * n\n"
saved = save_skill("double_it", code, test={"call": "double(21)", "expect": 42}, tags=["numbers"])
from skills.double_it import double
result = [str(saved), double(4), load_skill("double_it") == code, [s["name"] for s in list_skills()]]
"#,
    );
    let told = "saved double_it v1, its test passed; use it in a program: from skills.double_it import double; double(n)";
    assert_eq!(saved, json!([told, 8, true, ["double_it"]]));
    assert_eq!(world.result("from skills.double_it import double\nresult = double(5)"), json!(10));
    assert_eq!(world.result("exec(load_skill('DoubleIt'))\nresult = double(6)"), json!(12));
    let found =
        world.result("result = [(hit.tool, hit.signature) for hit in search_tools('double a number')]");
    assert_eq!(found, json!([["skills.double_it", "from skills.double_it import double; double(n)"]]));
    assert_eq!(
        world.result("result = sorted(list_directory('/skills'))"),
        json!(["double_it.md", "double_it.py"])
    );
    assert!(world.error("open('/skills/double_it.py', 'w')").to_lowercase().contains("read-only"));
    let md = fs::read_to_string(world.file("double_it/SKILL.md")).expect("a file");
    assert!(md.starts_with("---\nname: double_it\ndescription: Doubles a number.\nversion: 1\n"), "{md}");
    assert!(world.file("double_it/test_double_it.py").is_file());
    assert_eq!(world.result("delete_skill('double_it')\nresult = list(list_skills())"), json!([]));
    assert!(world.error("import skills.double_it").contains("skills"));
}

#[test]
fn what_the_code_needs_is_read_out_of_it() {
    let world = World::new("skills-facts");
    world.save("deals_by_city", KEEP_OPEN, None).expect("saved");
    let view = world.runtime.block_on(world.skills.look());
    let facts = view.find("deals_by_city").expect("a skill").known_facts.clone().expect("facts");
    let functions: Vec<_> = facts
        .functions
        .iter()
        .map(|one| (one.name.as_str(), one.parameters.join(", "), one.is_async))
        .collect();
    assert_eq!(
        functions,
        [
            ("open_deals", "city: str, limit=10".to_owned(), true),
            ("mean", "*values, **options".to_owned(), false)
        ]
    );
    assert_eq!(facts.imports, ["servers", "statistics"]);
    assert_eq!(facts.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["crm.find_deals"]);
    let drifted = |definition: &str| {
        let view = world.runtime.block_on(world.skills.look());
        let lookup = lookup(definition);
        let told = view.find("deals_by_city").expect("a skill").drift(Some(&lookup));
        told.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(drifted(r#"{"name":"other"}"#), ["needs crm.find_deals, which isn't available now"]);
    assert_eq!(
        drifted(r#"{"name":"find_deals","inputSchema":{"properties":{"town":{}}}}"#),
        ["needs crm.find_deals, which has changed since the skill was saved"]
    );
    assert_eq!(
        drifted(r#"{"name":"find_deals","inputSchema":{"properties":{"city":{"type":"string"}}}}"#),
        [""; 0]
    );
}

#[test]
fn a_skill_whose_test_fails_is_not_saved_and_the_line_is_told() {
    let world = World::new("skills-failing");
    let code = "def half(n):\n    return n // 2\n";
    let refused = |test: &str| {
        let test = Some(SkillTest::Source(test.to_owned()));
        world.save("half_of", code, test).expect_err("a failing test").to_string()
    };
    let told = refused("assert half(4) == 2\n\ndef test_odd():\n    assert half(3) == 1.5\n");
    assert!(told.contains("the test failed") && told.ends_with("(test_half_of.py, line 4)"), "{told}");
    assert!(told.contains("assert half(3) == 1.5"), "{told}");
    assert!(refused("assert half(").contains("test failed"), "a test that is no Python");
    assert!(refused("import nothing_here").contains("nothing_here"));
    assert!(refused("save_skill('other', 'x = 1')").contains("a test of a skill cannot change skills"));
    let example = SkillTest::Example { call: "half(9)".to_owned(), expected: json!(5) };
    let told = world.save("half_of", code, Some(example)).expect_err("a wrong example").to_string();
    assert!(told.contains("it came to 4, not 5"), "{told}");
    assert!(!world.file("half_of").exists(), "nothing was saved");
    assert_eq!(world.result("result = list(list_skills())"), json!([]));
}

#[test]
fn a_saved_test_is_run_again_at_every_save_with_real_tools() {
    let world = World::new("skills-again");
    // Without a tree of stubs the tool is called by its name.
    let code = KEEP_OPEN.replace("from servers.crm import find_deals\n", "");
    let code = code.replace("find_deals(", "callMCPTool('crm.find_deals', ");
    let test =
        SkillTest::Source("assert (await open_deals('Oslo', limit=1)) == [{'city': 'Oslo'}]".to_owned());
    assert_eq!(world.save("oslo_deals", &code, Some(test)).expect("saved"), 1);
    let broken = code.replace("* limit", "* 3");
    let told = world.save("oslo_deals", &broken, None).expect_err("the test is still there").to_string();
    assert!(told.contains("the test failed"), "{told}");
    assert_eq!(world.save("oslo_deals", &code, None).expect("as it is"), 1, "nothing new, no new version");
    let removed = Some(SkillTest::Source(String::new()));
    assert_eq!(world.save("oslo_deals", &broken, removed).expect("without its test"), 2);
    assert_eq!(
        world
            .runtime
            .block_on(world.skills.rollback("oslo_deals", 1, &SkillOrigin::Person))
            .expect("back")
            .version,
        3
    );
    assert_eq!(world.runtime.block_on(world.skills.test("oslo_deals")).expect("it passes"), 1);
}

#[test]
fn code_that_cannot_be_used_is_refused_with_its_reason() {
    let world = World::new("skills-refused");
    let told = |name: &str, code: &str| world.save(name, code, None).expect_err(code).to_string();
    assert!(told("a_b", "def f(:\n  pass").contains("(line 1)"));
    assert!(told("a_b", "x = 1\nreturn x").ends_with("'return' outside function (line 2)"));
    assert!(told("a_b", "x = await f()").contains("`await` goes into an async function"));
    assert!(told("a_b", "x = '\0'").contains("NUL"));
    assert!(
        told("a_b", &format!("x = {}1{}", "(".repeat(5_000), ")".repeat(5_000))).contains("valid Python")
    );
    assert!(told("a_b", &"#".repeat(300 * 1024)).contains("the limit is"));
    assert!(told("a_b", "  \n").contains("no code"));
    assert!(told("../escape", "x = 1").contains("isn't a valid skill name"));
    assert!(told("crm", "x = 1").contains("it is the server crm"));
    assert!(told("findDeals", "x = 1").contains("it is the tool crm.find_deals"));
    world
        .save("rows_kept", "\u{feff}def f():\r\n    return 1\r\n", None)
        .expect("marks and line ends are repaired");
    assert_eq!(
        fs::read_to_string(world.file("rows_kept/rows_kept.py")).expect("a file"),
        "def f():\n    return 1\n"
    );
    assert!(told("RowsKept", "x = 1").contains("`rows_kept` already exists"));
}

#[test]
fn a_program_of_somebody_who_may_only_read_changes_no_skill() {
    let world = World::new("skills-reader");
    world.save("two_of", "def two(): return 2\n", None).expect("saved");
    let used =
        world.run_as(None, "from skills.two_of import two\nresult = [two(), len(list(list_skills()))]");
    assert_eq!(used.result, Some(json!([2, 1])), "{:?}", used.error);
    for code in ["save_skill('two_of', 'def two(): return 3')", "delete_skill('two_of')"] {
        let refused = world.run_as(None, code).error.expect("a refusal").message;
        assert!(refused.contains("a token with the scope `admin`"), "{refused}");
    }
    assert_eq!(world.result("from skills.two_of import two\nresult = two()"), json!(2));
}

#[test]
fn what_a_test_runs_is_in_the_history_of_whoever_saves() {
    let world = World::new("skills-recorded");
    let gateway = world.gateway.as_ref().expect("it has not ended");
    let history = gateway.history().expect("it is recorded");
    let owner = Owner("http:ada".to_owned());
    let saved = world.run_as(
        Some(owner.clone()),
        "save_skill('two_of', 'def two(): return 2', test=\"await callMCPTool('crm.find_deals', city='Oslo')\")",
    );
    assert!(saved.success, "{:?}", saved.error);
    let listed = world.runtime.block_on(history.list(&HistoryFilter::default(), 10)).expect("a list");
    assert_eq!(listed.len(), 1, "the test, and not how the code was read");
    assert_eq!(listed[0].owner, owner.0);
    let found = world.runtime.block_on(history.find(&listed[0].id, None)).expect("a record");
    let Found::One(record) = found else { panic!("it is there") };
    assert_eq!(record.notes, ["this is test_two_of.py, a test of the skill two_of"]);
    assert!(record.tools_called.iter().any(|call| call.name == "crm.find_deals"), "{record:#?}");
}

#[test]
fn of_names_that_are_alike_saved_at_the_same_time_one_is_kept() {
    let world = World::new("skills-race");
    let save = |name: &str| {
        let (name, code) = (name.to_owned(), "def one(): return 1\n".to_owned());
        world.skills.save(SaveRequest { name, code, ..SaveRequest::default() })
    };
    let saves = async { tokio::join!(save("race_a"), save("Race_A"), save("raceA")) };
    let (one, two, three) = world.runtime.block_on(saves);
    let outcomes = [one, two, three];
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let alike = outcomes.iter().filter(|outcome| matches!(outcome, Err(SkillError::Alike { .. })));
    assert_eq!(alike.count(), 2);
    assert_eq!(names_in(&world.file("")).len(), 1);
}

#[test]
fn no_skill_hides_what_a_program_has() {
    let world = World::new("skills-names");
    let names = world.result(
        "import sys, builtins, gristmill\nresult = sorted({*sys.stdlib_module_names, *dir(builtins), *gristmill.__all__})",
    );
    let free: Vec<&str> = names
        .as_array()
        .expect("names")
        .iter()
        .filter_map(Value::as_str)
        .filter(|name| !name.starts_with('_') && SkillName::new(name).is_ok())
        .collect();
    assert_eq!(free, [""; 0]);
}

#[test]
fn door_4_a_program_cannot_overwrite_a_skill_that_others_import() {
    let world = World::new("skills-door-4");
    world.save("two_of", "def two(): return 2\n", None).expect("saved by a person");
    let told = world.result(
        r#"
saved = save_skill("two_of", "def two(): return 'evil'")
gone = delete_skill("two_of")
from skills.two_of import two
result = [str(saved), saved["status"], str(gone), two(), [s["name"] for s in list_skills()]]
"#,
    );
    let waits = "two_of is unchanged (v1 stays in use): it is the user's, so this waits until the user runs \
                 `gristmill skills approve two_of`; another name needs no approval";
    let (saved, gone) = (format!("not saved yet: {waits}"), format!("not deleted: {waits}"));
    assert_eq!(told, json!([saved, "waiting", gone, 2, ["two_of"]]));
    assert_eq!(world.result("from skills.two_of import two\nresult = two()"), json!(2));
    // What is one's own is changed as before.
    for number in [1, 2] {
        let code = format!("result = str(save_skill('own_of', 'def own(): return {number}'))");
        let told = world.result(&code);
        assert!(told.as_str().unwrap_or_default().starts_with(&format!("saved own_of v{number}")), "{told}");
    }
    let others =
        world.run_as(Some(Owner("http:ada".to_owned())), "result = str(save_skill('own_of', 'x = 1'))");
    let told = others.result.unwrap_or_default().to_string();
    assert!(told.contains("another caller saved it"), "{told}");
    let held = world.runtime.block_on(world.skills.held()).expect("what waits");
    let origins: Vec<String> = held.iter().map(|held| held.proposal.origin.told()).collect();
    assert_eq!(origins, ["http:ada", "local"], "the last change of each agent");
}

/// A home with a skill that has two versions.
fn home_with_versions(name: &str) -> Home {
    let home = Home::new(gristmill(), name);
    for (number, value) in [(1, "1"), (2, "2")] {
        let path = home.work().join("total_of.py");
        fs::write(&path, format!("'''Adds up, version {number}.'''\ndef total(): return {value}\n"))
            .expect("a file");
        home.ok(&["skills", "add", "total_of.py"]);
    }
    home
}

#[test]
fn commands_show_edit_and_bring_back() {
    let home = home_with_versions("skills-commands");
    let listed = home.ok(&["skills", "list"]);
    assert!(
        listed.starts_with(
            "total_of (v2): Adds up, version 2.\n    from skills.total_of import total; total()"
        ),
        "{listed}"
    );
    assert_eq!(home.ok(&["run", "-c", "from skills.total_of import total; total()"]).trim(), "2");
    let history = home.ok(&["skills", "history", "total_of"]);
    assert_eq!(history.lines().count(), 3, "a heading and two versions: {history}");
    assert!(history.contains("saved by local"), "{history}");
    home.ok(&["skills", "rollback", "total_of", "1"]);
    assert_eq!(home.ok(&["run", "-c", "from skills.total_of import total; total()"]).trim(), "1");
    let found = home.ok(&["tools", "search", "adds up"]);
    assert!(found.contains("from skills.total_of import total"), "{found}");

    // An editor that breaks the code: nothing is saved, and the edit is kept.
    let edited = |script: &str| {
        let editor = home.path().join("editor.sh");
        fs::write(&editor, format!("#!/bin/sh\n{script}\n")).expect("a file");
        let words = format!("sh {}", editor.display());
        home.command(&["skills", "edit", "total_of"])
            .env("EDITOR", words)
            .env_remove("VISUAL")
            .output()
            .expect("it runs")
    };
    let broken = edited("echo 'def (' >> \"$1\"");
    let said = String::from_utf8_lossy(&broken.stderr).into_owned();
    assert_eq!(broken.status.code(), Some(2), "{said}");
    assert!(said.contains("valid Python") && said.contains("your edit is in "), "{said}");
    let good = edited("echo 'def more(): return 7' >> \"$1\"");
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stderr));
    assert_eq!(home.ok(&["run", "-c", "from skills.total_of import more; more()"]).trim(), "7");

    home.ok(&["skills", "export", "out"]);
    home.ok(&["skills", "delete", "total_of"]);
    assert_eq!(home.run(&["skills", "show", "total_of"]).code, Some(2));
    let imported = home.ok(&["skills", "import", "out"]);
    assert!(imported.starts_with("saved total_of version 6"), "{imported}");
    assert!(home.ok(&["skills", "show", "total_of"]).contains("def more(): return 7"));
    let history = home.run(&["skills", "history", "total_of"]);
    assert_eq!(history.stdout.lines().count(), 7, "version 5 is the deletion: {}", history.stdout);
    assert_eq!(history.stderr, "", "hints are for terminals");
}

#[test]
fn tests_of_an_imported_skill_run_only_when_they_are_asked_for() {
    let home = Home::new(gristmill(), "skills-imported");
    let folder = home.work().join("theirs/their_sum");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("their_sum.py"), "def total(): return 1\n").expect("a file");
    fs::write(folder.join("test_their_sum.py"), "assert total() == 2\n").expect("a file");
    let imported = home.run(&["skills", "import", "theirs"]);
    assert!(imported.stdout.starts_with("saved their_sum version 1"), "{}", imported.stderr);
    assert!(
        imported.stderr.contains("not run") && imported.stderr.contains("gristmill skills test their_sum"),
        "{}",
        imported.stderr
    );
    let recorded = || {
        let listed: Value = serde_json::from_str(&home.ok(&["history", "--json"])).expect("JSON");
        listed.as_array().expect("a list").len()
    };
    assert_eq!(recorded(), 0);
    assert_eq!(home.run(&["skills", "test", "their_sum"]).code, Some(1), "now it ran, and failed");
    assert_eq!(recorded(), 1);
}

#[test]
fn a_projects_skill_cannot_be_imported_before_it_is_approved() {
    let home = Home::new(gristmill(), "skills-project");
    let folder = home.work().join(".gristmill/skills/site_rules");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("site_rules.py"), "def rules(): return 'theirs'\n").expect("a file");
    fs::write(folder.join("SKILL.md"), "---\nname: site_rules\ndescription: \"Rules\\u001b[2J\"\n---\n")
        .expect("a file");
    let program = ["run", "-c", "from skills.site_rules import rules; rules()"];
    assert_eq!(home.run(&program).code, Some(1));
    let listed = home.run(&["skills", "list"]);
    assert!(listed.stdout.contains("site_rules (needs approval)"), "{}", listed.stdout);
    assert!(
        !listed.stdout.contains('\u{1b}') && listed.stderr.contains("skills approve"),
        "{}",
        listed.stderr
    );
    assert!(home.run(&program).stderr.contains("gristmill skills approve site_rules"), "the program is told");
    let which = home.run(&["skills", "approve"]);
    assert_eq!(which.code, Some(2));
    assert!(
        which.stderr.contains("choose skills to approve: site_rules") && which.stderr.contains("--all"),
        "{}",
        which.stderr
    );
    home.ok(&["skills", "approve", "site_rules", "--yes"]);
    assert_eq!(home.ok(&program).trim(), "theirs");
    fs::write(folder.join("site_rules.py"), "def rules(): return 'changed'\n").expect("a file");
    assert_eq!(home.run(&program).code, Some(1), "it waits again");
    // Nobody is there to say yes: what changed is shown, and nothing is approved.
    let asked = home.run(&["skills", "approve", "--all"]);
    assert_eq!(asked.code, Some(2), "{}", asked.stderr);
    let changed = "- def rules(): return 'theirs'\n+ def rules(): return 'changed'";
    assert!(asked.stdout.contains(changed), "{}", asked.stdout);
    assert!(
        asked.stderr.contains("site_rules not approved") && asked.stderr.contains("--yes"),
        "{}",
        asked.stderr
    );
    assert_eq!(home.run(&program).code, Some(1), "it still waits");
    let edited = home.run(&["skills", "edit", "site_rules"]);
    assert!(edited.stderr.contains("isn't approved yet"), "{}", edited.stderr);
    // One that waits does not stand in the way of one's own.
    home.ok(&["run", "-c", "save_skill('site_rules', 'def rules(): return 1')"]);
    assert_eq!(home.ok(&program).trim(), "1");
    let theirs = fs::read_to_string(folder.join("site_rules.py")).expect("a file");
    assert_eq!(theirs, "def rules(): return 'changed'\n");
}

#[test]
fn a_projects_skill_does_not_hide_behind_the_users_own() {
    let home = home_with_versions("skills-both");
    let folder = home.work().join(".gristmill/skills/total_of");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("total_of.py"), "def total(): return 'theirs\u{202e}'\n").expect("a file");
    let both = home.run(&["skills", "show", "total_of"]);
    assert!(both.stdout.contains("=== total_of (user, usable) ==="), "{}", both.stdout);
    assert!(both.stdout.contains("=== total_of (project, needs approval) ==="), "{}", both.stdout);
    assert!(both.stdout.contains("return 'theirs\\u{202e}'"), "nothing is hidden: {}", both.stdout);
    assert!(both.stderr.contains("skills approve total_of"), "{}", both.stderr);
    let theirs = home.ok(&["skills", "show", "total_of", "--project", "--json"]);
    let theirs: Value = serde_json::from_str(&theirs).expect("JSON");
    assert_eq!((&theirs["place"], &theirs["state"]), (&json!("project"), &json!("waiting for approval")));
    let found = home.run(&["skills", "list", "adds up"]);
    assert!(found.stderr.contains("not searched: total_of"), "{}", found.stderr);
    let approved = home.ok(&["skills", "approve", "total_of", "--yes"]);
    assert!(
        approved.contains("total_of is new in this project") && approved.contains("theirs"),
        "{approved}"
    );
    let listed = home.ok(&["skills", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let of = |state: &str| {
        let found = listed.as_array().expect("a list").iter().find(|one| one["state"] == json!(state));
        found.map(|one| one["place"].clone())
    };
    assert_eq!((of("usable"), of("hidden by the project's")), (Some(json!("project")), Some(json!("user"))));
    let deleted = home.run(&["skills", "remove", "total_of"]);
    assert_eq!(deleted.stdout, "removed total_of (project)\n");
    assert!(deleted.stderr.contains("your own total_of is used now"), "{}", deleted.stderr);
}

#[test]
fn a_skill_put_there_by_hand_says_what_it_is_for_and_what_is_wrong_with_it() {
    let home = Home::new(gristmill(), "skills-by-hand");
    home.ok(&["skills", "list"]);
    let counts = "'''Counts the words.'''\ndef count(text): return 1\n";
    for (name, code) in [("by_hand", counts), ("broken", "def f(:\n")] {
        let folder = home.path().join("data/skills").join(name);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{name}.py")), code).expect("a file");
    }
    let listed = home.ok(&["skills", "list"]);
    let told = "by_hand (v1): Counts the words.\n    from skills.by_hand import count";
    assert!(listed.contains(told), "{listed}");
    assert!(listed.contains("warning: can't be imported: it isn't valid Python"), "{listed}");
}

#[test]
fn an_edit_that_changes_nothing_leaves_nothing_behind() {
    let home = home_with_versions("skills-edit-nothing");
    fs::write(home.work().join("test_it.py"), "assert total() == 2\n").expect("a file");
    home.ok(&["skills", "add", "total_of.py", "--test", "test_it.py"]);
    let edited = |editor: &str| {
        let mut command = home.command(&["skills", "edit", "total_of"]);
        command.env("EDITOR", editor).env_remove("VISUAL").output().expect("it runs")
    };
    for (editor, code) in [("true", 0), ("false", 2), ("/no/such/editor", 2)] {
        assert_eq!(edited(editor).status.code(), Some(code), "{editor}");
        let left = names_in(&home.path().join("data"));
        assert!(!left.iter().any(|name| name.starts_with("editing-")), "{editor}: {left:?}");
    }
    let shown = edited("echo");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("test_total_of.py"), "the test is edited, too");
}

#[test]
fn killed_at_any_moment_the_old_or_the_new_skill_is_there_whole() {
    let home = home_with_versions("skills-killed");
    let folder = home.path().join("data/skills");
    let contents = |version: &str| home.ok(&["skills", "show", "total_of", "--version", version, "--json"]);
    let code = |shown: String| {
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        shown["files"]["total_of.py"].as_str().expect("code").to_owned()
    };
    let whole = [code(contents("1")), code(contents("2"))];
    for round in 0..24_u64 {
        let version = if round % 2 == 0 { "1" } else { "2" };
        let mut child = home
            .command(&["skills", "rollback", "total_of", version])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(round * 4));
        let _ = child.kill();
        child.wait().expect("it ends");
        let found = fs::read_to_string(folder.join("total_of/total_of.py")).expect("it is there");
        assert!(whole.contains(&found), "round {round}: {found}");
        assert!(folder.join("total_of/SKILL.md").is_file(), "round {round}");
    }
    home.ok(&["skills", "rollback", "total_of", "1"]);
    assert_eq!(names_in(&folder), ["total_of"], "nothing is left behind");
    assert_eq!(home.ok(&["run", "-c", "from skills.total_of import total; total()"]).trim(), "1");
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}
