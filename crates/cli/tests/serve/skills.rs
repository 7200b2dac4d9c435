//! `save_skill`, `load_skill`, `list_skills` and `delete_skill`: what a model saves for later programs.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{legacy, modern, text_of};
use crate::gateways::Place;

cases![
    a_skill_is_saved_found_imported_read_and_deleted,
    a_skill_in_typescript_is_told_from_its_code,
    a_skill_that_is_wrong_is_refused_in_words_that_say_why,
    door_4_an_agents_change_to_a_skill_of_the_users_waits_for_a_command,
];

const CODE: &str = "def keep_open(rows):\n    '''Keeps the rows that are open.'''\n    return [row for row in rows if row['open']]\n";

fn a_skill_is_saved_found_imported_read_and_deleted() {
    // No server is connected: skills are found all the same.
    let served = Place::new("skills").serve(legacy(), &[]);
    let usage = "from skills.open_rows import keep_open; keep_open(rows)";
    let saved = served.structured(
        "save_skill",
        json!({"name": "open_rows", "code": CODE, "tags": ["rows"], "test": {"call": "keep_open([])", "expect": []}}),
    );
    assert_eq!(saved, json!({"status": "ok", "name": "open_rows", "version": 1, "use": usage}));
    let program = "from skills.open_rows import keep_open\nresult = keep_open([{'open': 1}, {'open': 0}])";
    let ran = served.structured("execute_code", json!({"code": program}));
    assert_eq!(ran, json!({"status": "ok", "result": [{"open": 1}]}));
    let found = served.structured("search_tools", json!({"query": "rows that are open"}));
    assert_eq!(found["found"], json!([format!("{usage}\nKeeps the rows that are open.")]));
    let browsed = served.structured("search_tools", json!({}));
    assert_eq!(browsed["found"], json!(["skills (1 skill): Saved code: import it in a program"]));
    let full =
        served.structured("search_tools", json!({"query": "rows that are open", "detail_level": "full"}));
    assert_eq!(full["found"], json!([format!("{usage}\nKeeps the rows that are open.\n- rows")]));
    let defined = served.structured("get_tool_definition", json!({"name": "skills.openRows"}));
    let text = defined["definitions"]["skills.open_rows"].as_str().unwrap_or_default();
    assert!(text.contains(usage), "{defined:#}");
    let called = served.call("execute_code", json!({"code": "await callMCPTool('skills.open_rows', {})"}));
    assert!(text_of(&called).contains("open_rows is a skill: import it"), "{called:#}");
    let listed = served.structured("list_skills", json!({"tags": ["rows"]}));
    let entry = format!("open_rows (v1) [rows]: Keeps the rows that are open.\n    {usage}");
    assert_eq!(listed, json!({"total": 1, "skills": [entry]}));
    assert_eq!(served.structured("list_skills", json!({"query": "weather"}))["total"], json!(0));
    let loaded = served.structured("load_skill", json!({"name": "openRows"}));
    assert_eq!((&loaded["code"], &loaded["version"]), (&json!(CODE), &json!(1)));
    let deleted = served.structured("delete_skill", json!({"name": "open_rows"}));
    assert_eq!(deleted, json!({"status": "ok", "name": "open_rows"}));
    assert_eq!(served.structured("list_skills", json!({})), json!({"total": 0, "skills": []}));
    let old = served.structured("load_skill", json!({"name": "open_rows", "version": 1}));
    assert_eq!(old["code"], json!(CODE));
}

fn a_skill_in_typescript_is_told_from_its_code() {
    let served = Place::new("skills-typescript").serve(legacy(), &[]);
    let code = "/** Keeps the rows that are open. */\nexport const keepOpen = (rows: { open: number }[]) => rows.filter((row) => row.open);\n";
    let usage = "import { keepOpen } from \"skills/open_rows\"; keepOpen(rows: { open: number }[])";
    let saved = served.structured(
        "save_skill",
        json!({"name": "open_rows", "code": code, "test": {"call": "keepOpen([])", "expect": []}}),
    );
    assert_eq!(saved, json!({"status": "ok", "name": "open_rows", "version": 1, "use": usage}));
    let program = "import { keepOpen } from \"skills/open_rows\";\nexport default keepOpen([{ open: 1 }, { open: 0 }]);";
    let ran = served.structured("execute_code", json!({"code": program}));
    assert_eq!(ran, json!({"status": "ok", "result": [{"open": 1}]}));
    let listed = served.structured("list_skills", json!({}));
    let entry = format!("open_rows (v1, TypeScript): Keeps the rows that are open.\n    {usage}");
    assert_eq!(listed, json!({"total": 1, "skills": [entry]}));
    let loaded = served.call("load_skill", json!({"name": "open_rows"}));
    assert!(text_of(&loaded).contains("```typescript\n/** Keeps"), "{loaded:#}");
    let changed = served.call("save_skill", json!({"name": "open_rows", "code": CODE}));
    assert!(text_of(&changed).contains("`open_rows` is a skill in TypeScript"), "{changed:#}");
}

fn a_skill_that_is_wrong_is_refused_in_words_that_say_why() {
    let served = Place::new("skills-wrong").serve(legacy(), &[]);
    let refusal = |tool: &str, arguments: Value| {
        let answer = served.call(tool, arguments);
        assert_eq!(answer["isError"], json!(true), "{answer:#}");
        text_of(&answer).to_owned()
    };
    let test = json!("assert keep_open([{'open': 1}]) == []");
    let told = refusal("save_skill", json!({"name": "open_rows", "code": CODE, "test": test}));
    assert!(told.contains("the test failed") && told.contains("line 1"), "{told}");
    let told = refusal("save_skill", json!({"name": "open-rows", "code": CODE}));
    assert!(told.contains("`open_rows` works"), "{told}");
    let told = refusal("save_skill", json!({"name": "open_rows", "code": "def f(:"}));
    assert!(told.contains("GM-1101") && told.contains("line 1"), "{told}");
    let told = refusal("load_skill", json!({"name": "nothing"}));
    assert!(told.contains("no skill `nothing`"), "{told}");
    served.structured("save_skill", json!({"name": "open_rows", "code": CODE}));
    let told = refusal("load_skill", json!({"name": "open_rows", "version": 9}));
    assert!(told.contains("`open_rows` has no version 9; there are 1"), "{told}");
    let told = refusal("delete_skill", json!({"name": "nothing"}));
    assert!(told.contains("no skill `nothing`"), "{told}");
}

fn door_4_an_agents_change_to_a_skill_of_the_users_waits_for_a_command() {
    for manners in [legacy(), modern()] {
        let place = Place::new("skills-held");
        std::fs::write(place.home().work().join("rows_of.py"), "def rows(): return 1\n").expect("a file");
        place.home().ok(&["skills", "add", "rows_of.py"]);
        let served = place.serve(manners, &[]);
        let home = served.home();
        let changed = json!({"name": "rows_of", "code": "def rows(): return 2\n"});
        let saved = served.structured("save_skill", changed.clone());
        assert_eq!((&saved["status"], &saved["version"]), (&json!("waiting"), &json!(1)), "{saved:#}");
        let told = saved["notes"][0].as_str().unwrap_or_default();
        assert!(told.contains("`gristmill skills approve rows_of`"), "{told}");
        let program = json!({"code": "from skills.rows_of import rows\nresult = rows()"});
        assert_eq!(served.structured("execute_code", program.clone())["result"], json!(1));
        let deleted = served.structured("delete_skill", json!({"name": "rows_of"}));
        assert_eq!(deleted["status"], json!("waiting"), "{deleted:#}");
        served.structured("save_skill", changed);
        // From a program of the same client, with where it came from.
        let code = "save_skill('rows_of', 'def rows(): return 3')";
        served.structured("execute_code", json!({"code": code}));
        let history = home.ok(&["skills", "history", "rows_of", "--json"]);
        let history: Value = serde_json::from_str(&history).expect("JSON");
        assert_eq!(history[0]["state"], json!("waiting for approval"), "{history:#}");
        let origin = &history[0]["origin"];
        assert_eq!((&origin["from"], &origin["owner"]), (&json!("agent"), &json!("local")), "{history:#}");
        assert!(origin["client"].is_string() && origin["execution"].is_string(), "{history:#}");
        assert_eq!(history[1]["origin"], json!({"from": "person"}), "{history:#}");
        let listed = home.run(&["skills", "list"]);
        assert!(
            listed.stderr.contains("needs approval: rows_of, saved by a program of local"),
            "{}",
            listed.stderr
        );
        let asked = home.run(&["skills", "approve", "rows_of"]);
        assert_eq!(asked.code, Some(2), "{}", asked.stdout);
        assert!(asked.stdout.contains("- def rows(): return 1\n+ def rows(): return 3"), "{}", asked.stdout);
        home.ok(&["skills", "approve", "rows_of", "--yes"]);
        assert_eq!(home.ok(&["run", "-c", "from skills.rows_of import rows; rows()"]).trim(), "3");
        assert_eq!(served.structured("delete_skill", json!({"name": "rows_of"}))["status"], json!("waiting"));
        assert!(home.ok(&["skills", "reject", "rows_of"]).starts_with("rejected: rows_of, deleted by"));
        assert_eq!(home.run(&["skills", "reject", "rows_of"]).code, Some(2));
    }
}
