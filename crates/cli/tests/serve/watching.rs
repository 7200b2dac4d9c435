//! An agent that is stuck is found, told of and listed, by the gateway that runs its programs.

use serde_json::{Value, json};

use crate::cases;
use crate::client::modern;
use crate::gateways::Place;

cases![a_stuck_agent_is_told_of_and_listed, a_watch_that_is_off_says_nothing];

fn anomalies(home: &gristmill_testkit::Home) -> Vec<Value> {
    serde_json::from_str(&home.ok(&["anomalies", "--json"])).expect("JSON")
}

fn a_stuck_agent_is_told_of_and_listed() {
    let served = Place::new("watching").serve(modern(), &["--profile", "full"]);
    assert_eq!(served.home().ok(&["anomalies"]), "Nothing unusual was found.\n");
    for _ in 0..8 {
        let failed = served.structured("execute_code", json!({"code": "1 / 0", "session": "report"}));
        assert_eq!(failed["status"], "error", "{failed}");
    }
    let said = served.until_said("alert: warning repeated-program");
    assert!(said.contains("session report of caller local"), "{said}");
    served.until_said("hint: gristmill history --session report --since 1h");
    let found = anomalies(served.home());
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((&found[0]["severity"], &found[0]["kind"]), (&json!("warning"), &json!("repeated-program")));
    assert_eq!(found[0]["executions"].as_array().map(Vec::len), Some(5), "{found:#?}");
    let id = found[0]["executions"][0].as_str().expect("an id");
    assert!(served.home().ok(&["show", id]).contains("1 / 0"));
    let table = served.home().ok(&["anomalies", "--since", "1h"]);
    assert!(table.starts_with("TIME") && table.contains("gristmill history --session report"), "{table}");
}

fn a_watch_that_is_off_says_nothing() {
    let place = Place::new("watching-off").setting("watch", json!({"enabled": false}));
    let served = place.serve(modern(), &["--profile", "full"]);
    for _ in 0..8 {
        served.structured("execute_code", json!({"code": "1 / 0", "session": "report"}));
    }
    assert_eq!(anomalies(served.home()), Vec::<Value>::new());
    assert!(!served.said().contains("alert"), "{}", served.said());
}
