//! Skills in TypeScript: saved, tried and imported in their own language.

use std::fs;

use gristmill_gateway::domain::skills::SkillLanguage;
use gristmill_gateway::skills::{SkillOrigin, SkillTest};
use gristmill_testkit::Home;
use serde_json::{Value, json};

use crate::support::gristmill;
use crate::world::World;

const OPEN_DEALS: &str = r#"/** Deals that are open, by city. */

import { round } from "skills/rounding";

type Deal = { city: string };

/** Finds the open deals of a city. */
export async function openDeals(city: string, limit = 10): Promise<Deal[]> {
  const found: Deal = await callMCPTool("crm.find_deals", { city });
  return Array.from({ length: round(limit) }, () => found);
}

export const both = (...cities: string[]) => Promise.all(cities.map((city) => openDeals(city, 1)));
"#;

fn result(world: &World, code: &str) -> Value {
    let report = world.run_typescript(code);
    assert!(report.success, "{code}\n{:?}", report.error);
    report.result.unwrap_or(Value::Null)
}

fn error(world: &World, code: &str) -> String {
    let report = world.run_typescript(code);
    report.error.unwrap_or_else(|| panic!("succeeded: {code} gave {:?}", report.result)).message
}

fn source(test: &str) -> Option<SkillTest> {
    Some(SkillTest::Source(test.to_owned()))
}

#[test]
fn a_typescript_program_saves_a_skill_and_later_ones_import_it() {
    let world = World::new("skills-typescript");
    // The only place is taken by the program that saves: its test must not wait for it.
    let saved = result(
        &world,
        r#"
const code = "/** Doubles a number. */\nexport function double(n: number): number {\n  return 2 * n;\n}\n";
const saved = saveSkill("double_it", code, { test: { call: "double(21)", expect: 42 }, tags: ["numbers"] });
const { double } = await import("skills/double_it");
export default [saved.text, double(4), loadSkill("double_it") === code, listSkills().map((skill) => [skill.name, skill.language])];
"#,
    );
    let told = "saved double_it v1, its test passed; use it in a program: \
                import { double } from \"skills/double_it\"; double(n: number)";
    assert_eq!(saved, json!([told, 8, true, [["double_it", "typescript"]]]));
    for spelling in ["skills/double_it", "skills/doubleIt", "./skills/double_it.ts", "@skills/double-it"] {
        let code = format!("import {{ double }} from \"{spelling}\";\ndouble(5)");
        assert_eq!(result(&world, &code), json!(10), "{spelling}");
    }
    let found = result(&world, "searchTools('double a number').map((hit) => [hit.tool, hit.signature])");
    let used = "import { double } from \"skills/double_it\"; double(n: number)";
    assert_eq!(found, json!([["skills.double_it", used]]));
    assert_eq!(
        result(&world, "[...listDirectory('/skills')].sort()"),
        json!(["double_it.md", "double_it.ts"])
    );
    let md = fs::read_to_string(world.file("double_it/SKILL.md")).expect("a file");
    assert!(
        md.starts_with(
            "---\nname: double_it\ndescription: Doubles a number.\nversion: 1\nlanguage: typescript\n"
        ),
        "{md}"
    );
    assert!(md.contains("```typescript\nimport { double } from \"skills/double_it\"\n```"), "{md}");
    assert!(world.file("double_it/double_it.ts").is_file());
    assert!(world.file("double_it/test_double_it.ts").is_file());
    let missing = error(&world, "import { triple } from 'skills/double_it';\ntriple(1)");
    assert!(missing.contains("triple") && missing.contains("double"), "{missing}");
    assert_eq!(result(&world, "deleteSkill('double_it'); listSkills().length"), json!(0));
    let gone = error(&world, "import { double } from 'skills/double_it';\ndouble(5)");
    assert!(gone.contains("no skill `double_it`"), "{gone}");
}

#[test]
fn what_typescript_needs_is_read_out_of_it() {
    let world = World::new("skills-typescript-facts");
    world.save("rounding", "export const round = (n: number) => Math.round(n);\n", None).expect("saved");
    let test = source("assert.deepStrictEqual(await openDeals(\"Oslo\", 1.2), [{ city: \"Oslo\" }]);");
    world.save("open_deals", OPEN_DEALS, test).expect("saved");
    let view = world.runtime.block_on(world.skills.look());
    let skill = view.find("open_deals").expect("a skill");
    assert_eq!(skill.language, SkillLanguage::TypeScript);
    assert_eq!(skill.description(), "Deals that are open, by city.");
    let facts = skill.known_facts.clone().expect("facts");
    let functions: Vec<_> = facts.functions.iter().map(|one| (one.name.as_str(), one.is_async)).collect();
    assert_eq!(functions, [("openDeals", true), ("both", false)]);
    assert_eq!(facts.imports, ["skills.rounding"]);
    assert_eq!(facts.tools.len(), 1);
    assert_eq!(facts.tools[0].name, "crm.find_deals");
    assert!(facts.tools[0].schema.is_some(), "the tool is there");
    let used =
        result(&world, "import { both } from 'skills/open_deals';\n(await both('Oslo', 'Rome')).flat()");
    assert_eq!(used, json!([{"city": "Oslo"}, {"city": "Rome"}]));
}

#[test]
fn a_typescript_skill_whose_test_fails_is_not_saved_and_the_line_is_told() {
    let world = World::new("skills-typescript-failing");
    let code = "export function half(n: number) { return Math.floor(n / 2); }\n";
    let refused =
        |test: Option<SkillTest>| world.save("half_of", code, test).expect_err("a failing test").to_string();
    let told = refused(source(
        "import { half } from \"skills/half_of\";\n\nfunction test_odd() {\n  assert.equal(half(3), 1.5);\n}\n",
    ));
    assert!(told.contains("the test failed") && told.ends_with("(test_half_of.ts, line 4)"), "{told}");
    let told = refused(source(
        "const testLater = async () => {\n  await null;\n  throw new Error(\"no good\");\n};",
    ));
    assert!(told.contains("no good") && told.ends_with("(test_half_of.ts, line 3)"), "{told}");
    assert!(refused(source("half(4) === 3")).contains("its last expression is false"));
    assert!(refused(source("assert(half(")).contains("test failed"), "a test that is no TypeScript");
    let changing = source("saveSkill('other', 'export const x = 1')");
    assert!(refused(changing).contains("a test of a skill cannot change skills"));
    let example = SkillTest::Example { call: "half(9)".to_owned(), expected: json!(5) };
    let told = refused(Some(example));
    assert!(told.contains("it came to 4, not 5"), "{told}");
    assert!(!world.file("half_of").exists(), "nothing was saved");

    let promised = "export const pairs = async (o: object) => new Map(Object.entries(o)).size ? { b: 1, a: [undefined] } : undefined;";
    let example = |call: &str, expected: Value| Some(SkillTest::Example { call: call.to_owned(), expected });
    world
        .save("pairs_of", promised, example("pairs({x: 1});", json!({"a": [null], "b": 1})))
        .expect("as JSON");
    world.save("pairs_of", promised, example("pairs({})", Value::Null)).expect("nothing is null");
}

#[test]
fn code_that_is_no_typescript_is_refused_with_its_line() {
    let world = World::new("skills-typescript-refused");
    let told = |code: &str| world.save("a_b", code, None).expect_err(code).to_string();
    let wrong = told("export const a = 1;\nexport function f( {\n");
    assert!(
        wrong.starts_with("not saved: the code isn't valid TypeScript: ") && wrong.contains("(line 2)"),
        "{wrong}"
    );
    assert!(told("const a: number = 1;\nif (a) return a;").contains("`return` outside of a function"));
    let saved = world.runtime.block_on(world.skills.save(gristmill_gateway::skills::SaveRequest {
        name: "a_b".to_owned(),
        code: "function f(a: number) { return a; }".to_owned(),
        ..Default::default()
    }));
    let notes = saved.expect("saved").notes;
    assert_eq!(notes, ["it exports no function; write `export` before what programs import"]);
}

#[test]
fn a_skill_is_imported_in_its_own_language_alone() {
    let world = World::new("skills-languages");
    world.save("py_two", "def two(): return 2\n", None).expect("saved");
    world.save("ts_two", "export const two = (): number => 2;\n", None).expect("saved");
    assert_eq!(world.result("from skills.py_two import two\nresult = two()"), json!(2));
    assert_eq!(result(&world, "import { two } from 'skills/ts_two';\ntwo()"), json!(2));
    let told = world.error("from skills.ts_two import two");
    assert!(told.contains("the skill ts_two is written in TypeScript"), "{told}");
    let told = error(&world, "import { two } from 'skills/py_two';\ntwo()");
    assert!(told.contains("the skill `py_two` is written in Python"), "{told}");
    // Read by anybody, and listed for all.
    assert!(world.result("result = load_skill('ts_two')").to_string().contains("export const two"));
    assert_eq!(result(&world, "readFile('/skills/py_two.py')"), json!("def two(): return 2\n"));
    let listed = json!([["py_two", "python"], ["ts_two", "typescript"]]);
    assert_eq!(world.result("result = [[s['name'], s['language']] for s in list_skills()]"), listed);
    assert_eq!(world.result("import skills\nresult = skills.__all__"), json!(["py_two"]));
}

#[test]
fn a_name_has_one_language() {
    let world = World::new("skills-one-language");
    world.save("two_of", "def two(): return 2\n", None).expect("saved");
    let told = error(&world, "saveSkill('two_of', 'export const two = () => 3;')");
    assert!(told.contains("`two_of` is a skill in Python, and this is TypeScript"), "{told}");
    world.runtime.block_on(world.skills.delete("two_of", &SkillOrigin::Person)).expect("deleted");
    let saved = result(&world, "saveSkill('two_of', 'export const two = () => 3;').version");
    assert_eq!(saved, json!(3), "its history goes on");
    world.runtime.block_on(world.skills.rollback("two_of", 1, &SkillOrigin::Person)).expect("back");
    assert_eq!(world.result("from skills.two_of import two\nresult = two()"), json!(2));
}

#[test]
fn commands_add_show_and_test_a_skill_in_typescript() {
    let home = Home::new(gristmill(), "skills-typescript-commands");
    let write = |name: &str, text: &str| fs::write(home.work().join(name), text).expect("a file");
    write(
        "total_of.ts",
        "/** Adds up. */\nexport function total(rows: number[]) {\n  return rows.reduce((a, b) => a + b, 0);\n}\n",
    );
    write("check.ts", "assert.equal(total([1, 2]), 3);\n");
    write("check.py", "assert total([1, 2]) == 3\n");
    let refused = home.run(&["skills", "add", "total_of.ts", "--test", "check.py"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("in the language of its skill"), "{}", refused.stderr);
    home.ok(&["skills", "add", "total_of.ts", "--test", "check.ts"]);
    let listed = home.ok(&["skills", "list"]);
    let shown = "total_of (v1, TypeScript): Adds up.\n    import { total } from \"skills/total_of\"; total(rows: number[])";
    assert!(listed.starts_with(shown), "{listed}");
    let listed: Value = serde_json::from_str(&home.ok(&["skills", "list", "--json"])).expect("JSON");
    assert_eq!(listed[0]["language"], "typescript");
    assert_eq!(home.ok(&["skills", "test"]), "total_of: ok (1 test)\n");
    let code = "import { total } from \"skills/total_of\";\ntotal([20, 22])";
    assert_eq!(home.ok(&["run", "--language", "typescript", "-c", code]).trim(), "42");
    let shown = home.ok(&["skills", "show", "total_of"]);
    assert!(shown.contains("==> total_of.ts <==") && shown.contains("language: typescript"), "{shown}");
    home.ok(&["skills", "export", "out"]);
    home.ok(&["skills", "remove", "total_of"]);
    assert!(home.ok(&["skills", "import", "out"]).starts_with("saved total_of version 3"));
    // By hand: two languages in one folder are no skill.
    let folder = home.work().join("out/total_of");
    fs::write(folder.join("total_of.py"), "x = 1\n").expect("a file");
    let both = home.run(&["skills", "add", "out/total_of"]);
    assert!(both.stderr.contains("both total_of.py and total_of.ts"), "{}", both.stderr);
}
