//! Tens of calls of the same tool, up to a hundred.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::EXAMPLES;
use crate::tokens::direct::{Direct, items, most, number, text, whole};
use crate::tokens::job::{Group, Job, find_in, look_at_shape};

pub fn jobs() -> Vec<Job> {
    vec![quiet_accounts_job(), noisy_pods_job(), who_helps_job(), warmest_cities_job(), busiest_authors_job()]
}

fn quiet_accounts_job() -> Job {
    Job {
        name: "quiet-accounts",
        group: Group::ManyCalls,
        task: "Which of the accounts ACC-0001 to ACC-0100 were not called since 17 December 2025?",
        servers: EXAMPLES,
        queries: vec![find_in("crm", "activities of a record")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/quiet-accounts.py"),
        direct: quiet_accounts,
        closing: |done| format!("Of {} accounts these were not called: {}.", done["accounts"], done["quiet"]),
    }
}

fn noisy_pods_job() -> Job {
    Job {
        name: "noisy-pods",
        group: Group::ManyCalls,
        task: "Which three pods of the namespace shop have the most errors in the last 20 lines of their logs?",
        servers: &["kubernetes"],
        queries: vec![find_in("kubernetes", "kubectl get, logs")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/noisy-pods.py"),
        direct: noisy_pods,
        closing: |done| {
            format!("Of {} errors in {} pods the most are in {}.", done["errors"], done["pods"], done["most"])
        },
    }
}

fn who_helps_job() -> Job {
    Job {
        name: "who-helps",
        group: Group::ManyCalls,
        task: "Who writes the most comments on the 50 newest open issues of acme/basket? Name three people.",
        servers: &["github"],
        queries: vec![find_in("github", "list issues"), find_in("github", "read comments of an issue")],
        definitions: &[],
        first_look: look_at_shape(include_str!("../programs/who-helps.look.py")),
        program: include_str!("../programs/who-helps.py"),
        direct: who_helps,
        closing: |done| format!("On {} issues the most comments are by {}.", done["issues"], done["most"]),
    }
}

fn warmest_cities_job() -> Job {
    Job {
        name: "warmest-cities",
        group: Group::ManyCalls,
        task: "Where is it warmest tomorrow? Look at the first 40 cities of the list and name three.",
        servers: EXAMPLES,
        queries: vec![find_in("weather", "list cities"), find_in("weather", "daily forecast")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/warmest-cities.py"),
        direct: warmest_cities,
        closing: |done| format!("It is warmest in {done}."),
    }
}

fn busiest_authors_job() -> Job {
    Job {
        name: "busiest-authors",
        group: Group::ManyCalls,
        task: "Which three authors wrote the most words in the first 50 documents?",
        servers: EXAMPLES,
        queries: vec![
            find_in("documents", "list documents"),
            find_in("documents", "author and size of a document"),
        ],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/busiest-authors.py"),
        direct: busiest_authors,
        closing: |done| format!("In {} documents the busiest are {}.", done["documents"], done["most"]),
    }
}

fn quiet_accounts(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let call = |number: u64| ("crm", "list_activities", json!({"record_id": format!("ACC-{number:04}")}));
    let answers = direct.calls((1..=100).map(call).collect())?;
    let is_quiet = |answer: &&Value| {
        let mut calls = items(&answer["activities"]).iter().filter(|one| one["kind"] == "call");
        calls.all(|one| text(&one["at"]) < "2025-12-17")
    };
    let quiet: Vec<&Value> = answers.iter().filter(is_quiet).map(|answer| &answer["record_id"]).collect();
    Ok(json!({"accounts": answers.len(), "quiet": quiet}))
}

fn noisy_pods(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let arguments = json!({"resourceType": "pods", "namespace": "shop", "output": "name"});
    let list = direct.call("kubernetes", "kubectl_get", arguments)?;
    let pods: Vec<&str> = text(&list).lines().filter_map(|line| line.strip_prefix("pod/")).collect();
    let log = |pod: &&str| {
        let arguments = json!({"resourceType": "pod", "name": pod, "namespace": "shop", "tail": 20});
        ("kubernetes", "kubectl_logs", arguments)
    };
    let logs = direct.calls(pods.iter().map(log).collect())?;
    let errors = |log: &Value| text(log).lines().filter(|line| line.contains(" ERROR ")).count();
    let counts: BTreeMap<String, usize> =
        pods.iter().zip(&logs).map(|(pod, log)| ((*pod).to_owned(), errors(log))).collect();
    let all: usize = counts.values().sum();
    Ok(json!({"pods": pods.len(), "errors": all, "most": most(&counts, 3)}))
}

fn who_helps(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let arguments =
        json!({"owner": "acme", "repo": "basket", "state": "OPEN", "perPage": 50, "fields": ["number"]});
    let page = direct.call("github", "list_issues", arguments)?;
    let read = |issue: &Value| {
        let arguments = json!({"owner": "acme", "repo": "basket", "method": "get_comments", "issue_number": issue["number"]});
        ("github", "issue_read", arguments)
    };
    let answers = direct.calls(items(&page["issues"]).iter().map(read).collect())?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for comment in answers.iter().flat_map(items) {
        *counts.entry(text(&comment["user"]["login"]).to_owned()).or_default() += 1;
    }
    Ok(json!({"issues": answers.len(), "most": most(&counts, 3)}))
}

fn warmest_cities(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let cities = direct.call("weather", "list_cities", json!({}))?;
    let call = |city: &Value| ("weather", "forecast", json!({"city": city["city"], "days": 1}));
    let answers = direct.calls(items(&cities["cities"]).iter().take(40).map(call).collect())?;
    let heat = |answer: &Value| (text(&answer["city"]).to_owned(), number(&answer["days"][0]["temp_max_c"]));
    let heats: BTreeMap<String, f64> = answers.iter().map(heat).collect();
    Ok(json!(most(&heats, 3)))
}

fn busiest_authors(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let list = direct.call("documents", "list_documents", json!({}))?;
    let call = |one: &Value| ("documents", "get_metadata", json!({"document_id": one["document_id"]}));
    let answers = direct.calls(items(&list["documents"]).iter().map(call).collect())?;
    let mut words: BTreeMap<String, i64> = BTreeMap::new();
    for answer in &answers {
        *words.entry(text(&answer["author"]).to_owned()).or_default() += whole(&answer["words"]);
    }
    Ok(json!({"documents": answers.len(), "most": most(&words, 3)}))
}
