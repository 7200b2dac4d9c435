//! What the policy and people said about the calls of an execution, as the audit has it.

use std::collections::HashMap;

use gristmill_dashboard::pages::{Decision, Verdict};
use serde_json::Value;

use super::visit::Visit;

/// Events of one execution that are read.
const EVENTS_MAX: usize = 2_000;

/// Lines that are shown: calls about which the same was said are one.
const LINES_MAX: usize = 50;

/// None if this gateway writes no audit, or it can't be read.
pub(super) async fn decisions(visit: &Visit, id: &str) -> Vec<Decision> {
    let Some(audit) = visit.parts().gateway.audit() else { return Vec::new() };
    let events = audit.of_execution(id, EVENTS_MAX).await.unwrap_or_default();
    let events = events.iter().filter_map(|record| serde_json::from_str(&record.text).ok());
    summed_up(events)
}

fn summed_up(events: impl Iterator<Item = Value>) -> Vec<Decision> {
    let (mut lines, mut known): (Vec<Decision>, HashMap<[String; 5], usize>) = (Vec::new(), HashMap::new());
    // What a person said, and how: it comes before the call that it was about.
    let mut said: HashMap<[String; 3], String> = HashMap::new();
    for event in events {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let what = [text("server"), text("tool"), text("rule")];
        match event["kind"].as_str() {
            Some("approval") => {
                said.insert(what, words_of_answer(&event));
            }
            Some("call") if event["decision"].is_string() => {
                let (decision, answer) = (text("decision"), text("answer"));
                let answer = match said.get(&what) {
                    Some(words) if !answer.is_empty() => words.clone(),
                    _ => words_of_call(&decision, &answer),
                };
                let [server, tool, rule] = what;
                let key = [server.clone(), tool.clone(), rule.clone(), decision.clone(), answer.clone()];
                if let Some(line) = known.get(&key).and_then(|at| lines.get_mut(*at)) {
                    line.calls += 1;
                } else if lines.len() < LINES_MAX {
                    known.insert(key, lines.len());
                    lines.push(Decision {
                        server: server.into(),
                        tool: if tool.is_empty() { "(a resource)".into() } else { tool.into() },
                        verdict: verdict(&decision),
                        rule: rule.into(),
                        answer: answer.into(),
                        calls: 1,
                    });
                }
            }
            Some(_) | None => {}
        }
    }
    lines
}

fn verdict(decision: &str) -> Verdict {
    match decision {
        "allow" => Verdict::Allow,
        "deny" => Verdict::Deny,
        _ => Verdict::Ask,
    }
}

fn words_of_answer(event: &Value) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let by = match text("by") {
        "dashboard" => "in the dashboard",
        "client" => "in the client",
        "terminal" | "command" => "on the terminal",
        "approvals" => "with gristmill approvals",
        "link" => "by a link",
        _ => "",
    };
    let reason = match text("reason") {
        "" => String::new(),
        reason => format!(": “{reason}”"),
    };
    match text("decision") {
        "deny" => format!("denied {by}{reason}"),
        _ => format!("{} {by}{reason}", words_of_call("ask", text("scope"))),
    }
}

fn words_of_call(decision: &str, answer: &str) -> String {
    match (decision, answer) {
        ("held", _) => "held by the dry run",
        (_, "") => "",
        (_, "once") => "approved once",
        (_, "session") => "approved for the session",
        (_, "always") => "always approved",
        (_, "no") => "denied",
        (_, "timeout") => "not answered in time",
        (_, _) => "nobody could be asked",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use gristmill_dashboard::Text;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_decision_is_one_line_and_a_persons_words_are_with_it() {
        let call = |tool: &str, decision: &str, answer: Value| json!({ "kind": "call", "server": "crm", "tool": tool, "rule": "r", "decision": decision, "answer": answer });
        let denied = json!({ "kind": "approval", "server": "crm", "tool": "wipe", "rule": "r", "decision": "deny",
            "scope": "once", "by": "dashboard", "reason": "not today" });
        let events = [
            json!({ "kind": "execution.begun" }),
            call("get", "allow", Value::Null),
            call("get", "allow", Value::Null),
            denied,
            call("wipe", "ask", json!("no")),
            call("add", "ask", json!("session")),
            json!({ "kind": "call", "server": "crm", "name_digest": "x" }),
        ];
        let lines = summed_up(events.into_iter());
        let told: Vec<(&str, u64, &str)> =
            lines.iter().map(|line| (line.tool.raw(), line.calls, Text::raw(&line.answer))).collect();
        let expected = [
            ("get", 2, ""),
            ("wipe", 1, "denied in the dashboard: “not today”"),
            ("add", 1, "approved for the session"),
        ];
        assert_eq!(told, expected);
        assert!(matches!(lines[0].verdict, Verdict::Allow) && matches!(lines[1].verdict, Verdict::Ask));
    }
}
