//! What programs and embedders save, and what is refused.

use std::fs;

use gristmill_gateway::domain::Code;
use gristmill_gateway::domain::skills::SkillName;
use gristmill_gateway::history::{Found, HistoryFilter};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::skills::{SaveRequest, SkillError, SkillOrigin, SkillTest};
use serde_json::{Value, json};

use crate::world::{World, lookup, names_in};

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
        let refused = world.run_as(None, code).error.expect("a refusal");
        assert!(refused.message.contains("a token with the scope `admin`"), "{}", refused.message);
        assert_eq!((refused.code, refused.hint), (Code::PolicyDenied, None));
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
