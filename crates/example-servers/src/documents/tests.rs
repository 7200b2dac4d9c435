//! The transcript is what it promises, and the store answers.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn call(server: &Documents, tool: &str, arguments: Value) -> Result<Value, String> {
    match server.call(tool, arguments.as_object().unwrap_or(&Map::new()))? {
        Answer::Structured(value) => Ok(value),
        Answer::Text(_) | Answer::Image { .. } => Err("not structured".to_owned()),
    }
}

/// Seconds, speaker, words.
fn lines(text: &str) -> Vec<(u64, &str, &str)> {
    text.lines()
        .map(|line| {
            let (time, rest) = line.strip_prefix('[').and_then(|line| line.split_once("] ")).expect(line);
            let (who, said) = rest.split_once(": ").expect(line);
            let parts: Vec<u64> = time.split(':').map(|part| part.parse().expect(line)).collect();
            (parts[0] * 3600 + parts[1] * 60 + parts[2], who, said)
        })
        .collect()
}

#[test]
fn the_transcript_is_two_hours_of_talk() {
    let text = transcript::transcript();
    let lines = lines(&text);
    let words: usize = lines.iter().map(|line| line.2.split_whitespace().count()).sum();
    assert!((25_000..32_000).contains(&words), "{words} words");
    assert_eq!((lines[0].0, lines[lines.len() - 1].0), (0, 7_200));
    assert!(lines.is_sorted_by_key(|line| line.0));
    let longest_pause = lines.windows(2).map(|pair| pair[1].0 - pair[0].0).max();
    assert!(longest_pause.is_some_and(|seconds| seconds <= 25), "{longest_pause:?}");
    let speakers: BTreeSet<&str> = lines.iter().map(|line| line.1).collect();
    assert_eq!(speakers, transcript::SPEAKERS.iter().map(|speaker| speaker.1).collect());
    assert!(!text.contains(['{', '}']), "a gap was left open");
    assert_eq!(text, transcript::transcript());
}

#[test]
fn hardly_a_line_of_the_transcript_is_said_twice() {
    let text = transcript::transcript();
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, _, words) in lines(&text) {
        *said.entry(words).or_default() += 1;
    }
    let total: usize = said.values().sum();
    let most = said.iter().max_by_key(|(_, count)| **count).map(|(words, count)| (*count, *words));
    assert!(most.is_some_and(|(count, _)| count <= 14), "{most:?}");
    assert!(said.len() * 10 >= total * 7, "{} different of {total}", said.len());
}

#[test]
fn decisions_and_action_items_are_where_they_were_planted() {
    let text = transcript::transcript();
    let found = |mark: &str| -> Vec<String> {
        let lines = lines(&text);
        let with = lines.iter().filter(|line| line.2.contains(mark));
        with.map(|line| {
            format!("{}:{:02} {}", line.0 / 3600, line.0 / 60 % 60, &line.2[line.2.find(mark).unwrap_or(0)..])
        })
        .map(|line| line.chars().take(60).collect())
        .collect()
    };
    assert_eq!(found("Decision "), DECISIONS);
    assert_eq!(found("Action item ").len(), 19);
    let topics = phrases::Topic::all();
    assert_eq!(topics.iter().map(|topic| topic.issues.len()).collect::<Vec<_>>(), [5; 10]);
}

const DECISIONS: [&str; 14] = [
    "0:12 Decision 1: the import checks every file by its content",
    "0:24 Decision 2: search results are sorted by what the shop ",
    "0:24 Decision 3: the order total moves into a bar at the top",
    "0:36 Decision 4: refunds under fifty euros are paid at once,",
    "0:48 Decision 5: every discount belongs to a group, and only",
    "0:48 Decision 6: contract prices get a table of their own th",
    "1:00 Decision 7: scanners keep up to two hundred scans while",
    "1:12 Decision 8: reports show order date and invoice date si",
    "1:24 Decision 9: the priority of a ticket is set from its su",
    "1:36 Decision 10: large customers get an interface that read",
    "1:47 Decision 11: the test system is filled with invented da",
    "1:47 Decision 12: one shop is restored from the backup each ",
    "1:59 Decision 13: the release is on the twenty-first of Sept",
    "1:59 Decision 14: the code freeze lasts ten days, and only D",
];

#[test]
fn seven_companies_are_named() {
    let text = transcript::transcript();
    let all = (1..=crate::companies::COMPANIES).map(crate::companies::company_name);
    let named: Vec<String> = all.filter(|name| text.contains(name.as_str())).collect();
    assert_eq!(named.len(), 7, "{named:?}");
}

#[test]
fn documents_are_listed_by_folder_and_page() {
    let server = Documents::new();
    let all = call(&server, "list_documents", json!({})).expect("a page");
    assert_eq!((&all["total"], &all["next_page"]), (&json!(200), &json!(2)));
    let last = call(&server, "list_documents", json!({"page": 4})).expect("a page");
    assert_eq!(last["next_page"], json!(null));
    assert_eq!(
        call(&server, "list_documents", json!({"folder": "meetings"}))
            .map(|page| page["documents"][0]["document_id"].clone()),
        Ok(json!("DOC-0107"))
    );
    let ids: BTreeSet<String> = server.shelf().iter().map(|document| document.id.clone()).collect();
    let titles: BTreeSet<String> = server.shelf().iter().map(|document| document.title.clone()).collect();
    assert_eq!((ids.len(), titles.len()), (200, 200));
}

#[test]
fn search_finds_by_title_and_by_text() {
    let server = Documents::new();
    let first = |query: &str| {
        call(&server, "search_documents", json!({"query": query}))
            .map(|answer| answer["hits"][0]["title"].clone())
    };
    assert_eq!(first("autumn release transcript"), Ok(json!("Planning of the autumn release: transcript")));
    assert_eq!(first("backup drill"), Ok(json!("Spec: backup drill")));
    assert_eq!(first("policy on expenses"), Ok(json!("Policy: Expenses")));
    assert_eq!(
        call(&server, "search_documents", json!({"query": "zyzzyva"})),
        Ok(json!({"hits": [], "total": 0}))
    );
    assert!(
        call(&server, "search_documents", json!({"query": "?"}))
            .is_err_and(|error| error.starts_with("`query` has no words"))
    );
}

#[test]
fn an_unknown_document_or_folder_is_told() {
    let server = Documents::new();
    assert_eq!(
        call(&server, "get_document", json!({"document_id": "DOC-9999"})),
        Err("no document `DOC-9999`; ids go from DOC-0001 to DOC-0200, see list_documents".to_owned())
    );
    assert_eq!(
        call(&server, "list_documents", json!({"folder": "spec"})),
        Err("no folder `spec`; did you mean `specs`? there are: meetings, specs, notes, policies, reports"
            .to_owned())
    );
}
