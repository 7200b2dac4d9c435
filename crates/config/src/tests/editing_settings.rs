//! Single settings put into files: the rest stays as it was.

use std::fs;

use crate::edit::{Done, EditError};
use crate::edit_policy::Writing;
use crate::edit_settings::{Setting, current, put_settings};
use crate::tree::{Node, Value};

fn settings() -> Vec<Setting> {
    let number = Node { line: 0, value: Value::Number("0.2".to_owned()) };
    let hosts = Node::list(vec![Node::text("a.example.com"), Node::text("b.example.com")]);
    vec![
        Setting { table: Some("serve"), key: "profile", value: Node::text("full") },
        Setting { table: Some("policy"), key: "preset", value: Node::text("strict") },
        Setting { table: Some("llm"), key: "temperature", value: number },
        Setting { table: Some("network"), key: "allowed_hosts", value: hosts },
        Setting { table: None, key: "level", value: Node::text("production") },
    ]
}

/// What becomes of a file of this name.
fn check(name: &str, before: &str, expected: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, before).expect("a file");
    let shown = put_settings(&path, &settings(), Writing::Not).expect("settings");
    assert_eq!(fs::read_to_string(&path).expect("a file"), before, "nothing is written when only asked");
    let edited = put_settings(&path, &settings(), Writing::Now).expect("settings");
    assert_eq!(fs::read_to_string(&path).expect("a file"), expected);
    assert_eq!(shown.map(|edited| edited.after), edited.map(|edited| edited.after));
    assert!(put_settings(&path, &settings(), Writing::Now).expect("settings").is_none(), "it is so already");
    let now = current(&path, &settings()).expect("a file");
    let wanted: Vec<serde_json::Value> = settings().iter().map(|setting| setting.value.to_json()).collect();
    assert_eq!(now, wanted);
}

#[test]
fn comments_order_and_words_in_place_of_tables_stay_in_toml() {
    check(
        "gristmill.toml",
        "# mine\nlevel = \"hardened\"\npolicy = \"careful\"\n\n[serve]\nprofile = \"minimal\" # few\ncall_tool = true\n",
        "# mine\nlevel = \"production\"\n\n[serve]\nprofile = \"full\" # few\ncall_tool = true\n\n[policy]\npreset = \"strict\"\n\n[llm]\ntemperature = 0.2\n\n[network]\nallowed_hosts = [\"a.example.com\", \"b.example.com\"]\n",
    );
}

#[test]
fn comments_stay_in_json() {
    check(
        "gristmill.json",
        "{\n  // mine\n  \"policy\": \"careful\",\n  \"serve\": { \"call_tool\": true }\n}\n",
        "{\n  // mine\n  \"policy\": {\n    \"preset\": \"strict\"\n  },\n  \"serve\": {\n    \"call_tool\": true,\n    \"profile\": \"full\"\n  },\n  \"llm\": {\n    \"temperature\": 0.2\n  },\n  \"network\": {\n    \"allowed_hosts\": [\"a.example.com\", \"b.example.com\"]\n  },\n  \"level\": \"production\"\n}\n",
    );
}

#[test]
fn a_file_that_is_not_there_is_made_and_yaml_is_left_to_its_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gristmill.toml");
    let edited = put_settings(&path, &settings()[..2], Writing::Now).expect("settings").expect("a change");
    assert_eq!((edited.done, edited.before), (Done::Created, None));
    assert_eq!(
        fs::read_to_string(&path).expect("a file"),
        "[serve]\nprofile = \"full\"\n\n[policy]\npreset = \"strict\"\n"
    );
    let path = folder.path().join("gristmill.yaml");
    fs::write(&path, "level: production\n").expect("a file");
    let Err(EditError::ByHand(by_hand)) = put_settings(&path, &settings(), Writing::Now) else {
        panic!("YAML was edited");
    };
    assert_eq!(by_hand.steps.len(), 4, "one for each that is new: {by_hand}");
    assert_eq!(fs::read_to_string(&path).expect("a file"), "level: production\n");
}

#[test]
fn a_table_that_is_something_else_is_not_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gristmill.toml");
    fs::write(&path, "serve = 3\n").expect("a file");
    assert!(matches!(put_settings(&path, &settings(), Writing::Now), Err(EditError::NotSafe { .. })));
    assert_eq!(fs::read_to_string(&path).expect("a file"), "serve = 3\n");
}
