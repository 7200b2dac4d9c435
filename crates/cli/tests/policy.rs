//! `gristmill policy`, and what it does to `run` and `tools call`.
#![cfg(target_os = "linux")]

mod support;

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

/// A home with the CRM, and these rules.
fn home(name: &str, policy: &str) -> Home {
    let home = Home::new(gristmill(), name);
    home.add_example("crm");
    let file = home.config_file();
    let servers = std::fs::read_to_string(&file).expect("a configuration");
    std::fs::write(&file, format!("{policy}\n{servers}")).expect("written");
    home
}

const RULES: &str = "[policy]
preset = 'careful'

[[policy.rules]]
name = 'small amounts'
server = 'crm'
tool = 'update_*'
where = { 'fields.amount' = '>1000' }
decision = 'deny'
reason = 'only a person changes large amounts'
";

#[test]
fn one_command_writes_a_rule_before_the_others_and_leaves_the_rest() {
    let home = home("policy-allow", RULES);
    let file = || std::fs::read_to_string(home.config_file()).expect("a configuration");
    let before = file();
    let rule = |decision: &str| {
        format!("[[policy.rules]]\nserver = \"crm\"\ntool = \"update_*\"\ndecision = \"{decision}\"\n")
    };
    let decided = || {
        let tested = parsed(&home.ok(&["policy", "test", "crm.update_record", "{}", "--json"]));
        tested["decision"].as_str().expect("a decision").to_owned()
    };
    let planned = home.ok(&["policy", "deny", "crm.update_*", "--dry-run"]);
    assert!(planned.starts_with("would be added to ") && planned.ends_with(&rule("deny")), "{planned}");
    assert_eq!((file(), decided()), (before.clone(), "ask".to_owned()));
    let written = home.ok(&["policy", "deny", "crm.update_*"]);
    assert!(written.starts_with("added to ") && written.ends_with(&rule("deny")), "{written}");
    assert_eq!(
        file(),
        before.replacen("[[policy.rules]]", &format!("{}\n[[policy.rules]]", rule("deny")), 1)
    );
    assert_eq!(decided(), "deny");
    assert!(home.ok(&["policy", "allow", "crm.update_*"]).starts_with("changed in "));
    assert_eq!(decided(), "allow");
    assert!(home.ok(&["policy", "allow", "crm.update_*"]).contains("says so already"));
    assert_eq!(file().matches("update_*").count(), 2, "{}", file());
}

#[test]
fn the_table_is_shown_in_order_with_where_each_line_is_from() {
    let home = home("policy-show", RULES);
    let shown = parsed(&home.ok(&["policy", "show", "--json"]));
    assert_eq!(shown["preset"], "careful");
    let rules: Vec<(&str, &str)> = shown["rules"]
        .as_array()
        .expect("rules")
        .iter()
        .map(|rule| {
            (rule["rule"].as_str().unwrap_or_default(), rule["decision"].as_str().unwrap_or_default())
        })
        .collect();
    let expected = [
        ("small amounts", "deny"),
        ("resources of preset careful", "allow"),
        ("prompts of preset careful", "allow"),
        ("reads of preset careful", "allow"),
        ("destructive of preset careful", "ask"),
        ("everything else of preset careful", "allow"),
    ];
    assert_eq!(rules, expected);
    assert!(
        shown["rules"][0]["origin"].as_str().is_some_and(|origin| origin.ends_with("gristmill.toml:5")),
        "{shown:#}"
    );
    let table = home.ok(&["policy", "show"]);
    assert!(table.contains("only a person changes large amounts"), "{table}");
}

#[test]
fn a_test_explains_line_by_line_what_would_happen() {
    let home = home("policy-test", RULES);
    let test = |arguments: &[&str]| {
        let words: Vec<&str> = ["policy", "test", "--json"].iter().chain(arguments).copied().collect();
        parsed(&home.ok(&words))
    };
    let large = test(&["crm.update_record", r#"{"fields": {"amount": 5000}}"#]);
    assert_eq!((&large["decision"], &large["rule"]), (&json!("deny"), &json!("small amounts")));
    assert_eq!(large["lines"][1]["outcome"], json!({"is": "not_reached"}));
    let small = test(&["crm.update_record", r#"{"fields": {"amount": 5}}"#]);
    assert_eq!((&small["decision"], &small["is_known"]), (&json!("ask"), &json!(true)));
    let why = "no argument `fields.amount` that fits `>1000`";
    assert_eq!(small["lines"][0]["outcome"], json!({"is": "no", "why": why}));
    assert_eq!(test(&["crm.get_record"])["decision"], "allow");
    home.ok(&["token", "new", "ci", "--tools", "crm.get_*", "--read-only", "--expires", "30d"]);
    let limited = test(&["crm.update_record", "--as", "ci"]);
    assert_eq!((&limited["decision"], &limited["rule"]), (&json!("deny"), &json!("token ci")));
    home.ok(&["token", "new", "strict", "--level", "hardened", "--expires", "2999-12-31"]);
    let looser = test(&["crm.get_record", "--as", "strict"]);
    assert_eq!((&looser["decision"], &looser["rule"]), (&json!("deny"), &json!("token strict")));
    assert_eq!(test(&["crm.get_record", "--as", "strict", "--level", "hardened"])["decision"], "allow");
    let words = home.ok(&["policy", "test", "crm.update_record"]);
    assert!(words.ends_with("crm.update_record: ask, because its server marks it destructive\n"), "{words}");
    let unknown = home.run(&["policy", "test", "crm.nope"]).stderr;
    let note = "note: crm.nope isn't a known tool, so rules can't go by what its server says about it\n";
    assert!(unknown.contains(note), "{unknown}");
    let nobody = home.run(&["policy", "test", "crm.x", "--as", "nobody"]);
    assert!(
        nobody.code == Some(2) && nobody.stderr.contains("no token is named `nobody`"),
        "{}",
        nobody.stderr
    );
}

const UPDATE: &str = "from servers.crm import update_record\n\
                      result = 'done'\n\
                      await update_record(type='meeting', id='MTG-0042', fields={'status': 'held'})";

#[test]
fn a_program_without_anybody_to_ask_is_refused_with_what_to_do() {
    let home = home("policy-run", "");
    let script = home.work().join("update.py");
    std::fs::write(&script, UPDATE).expect("written");
    let script = script.to_str().expect("a path");
    let refused = home.run(&["run", script]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("GM-3302") && refused.stderr.contains("gristmill approvals allow "),
        "{}",
        refused.stderr
    );
    let open = parsed(&home.ok(&["approvals", "--json"]));
    assert_eq!((&open[0]["tool"], &open[0]["by"]), (&json!("update_record"), &json!("this program")));
    home.ok(&["approvals", "allow", open[0]["id"].as_str().expect("an id"), "--always"]);
    let ran = home.run(&["run", script]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn whoever_types_a_call_has_said_yes_to_it_but_not_to_what_is_denied() {
    let home = home("policy-call", RULES);
    let call = |amount: u64| {
        let fields = format!("fields={{\"amount\": {amount}}}");
        home.run(&["tools", "call", "crm.update_record", "type=meeting", "id=MTG-0042", &fields])
    };
    let denied = call(5000);
    assert_eq!(denied.code, Some(1), "{}", denied.stderr);
    assert!(
        denied.stderr.contains("error[GM-3301]: crm.update_record isn't allowed: only a person"),
        "{}",
        denied.stderr
    );
    let asked = call(5);
    assert!(!asked.stderr.contains("GM-33"), "{}", asked.stderr);
}

#[test]
fn a_rule_in_the_spelling_that_programs_see_restricts_and_a_command_writes_the_servers_own() {
    let home =
        home("policy-spelling", "[[policy.rules]]\nserver = 'my_crm'\ntool = 'get_*'\ndecision = 'deny'\n");
    let program = gristmill().to_str().expect("a path");
    home.ok(&["add", "my-crm", "--", program, "example-server", "crm"]);
    let code = "from servers.my_crm import get_record\nawait get_record(type='lead', id='L-1')";
    let refused = home.run(&["run", "-c", code]);
    assert!(refused.code == Some(1) && refused.stderr.contains("GM-3301"), "{}", refused.stderr);
    let says = "my-crm.get_record isn't allowed: a rule denies it (rule `my_crm.get_*`). ";
    assert!(refused.stderr.contains(says), "{}", refused.stderr);
    let written = home.ok(&["policy", "deny", "my_crm.updateRecord"]);
    assert!(written.contains("server = \"my-crm\"\ntool = \"update_record\""), "{written}");
    let unknown = home.run(&["policy", "deny", "my-crm.get_recrod", "--dry-run"]);
    let note = "note: `my-crm` has no tool `get_recrod`; did you mean my-crm.get_record?";
    assert!(unknown.code == Some(0) && unknown.stderr.contains(note), "{}", unknown.stderr);
    let nowhere = home.run(&["policy", "deny", "mail.send", "--dry-run"]);
    assert!(nowhere.stderr.contains("note: no server is named `mail`\n"), "{}", nowhere.stderr);
    let misspelled = home.run(&["policy", "deny", "my-crn.get_record", "--dry-run"]);
    let note = "note: no server is named `my-crn`; did you mean `my-crm`?";
    assert!(misspelled.stderr.contains(note), "{}", misspelled.stderr);
}
