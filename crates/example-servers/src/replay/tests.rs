//! What every stand-in must keep to.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;

fn replay(name: &str) -> Replay {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches/tokens/catalogues");
    Replay::new(Some(&folder.join(format!("{name}.json")))).expect(name)
}

fn call(server: &Replay, tool: &str, arguments: &Value) -> Result<String, String> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    match server.call(tool, &arguments)? {
        Answer::Text(text) => Ok(text),
        Answer::Structured(value) => Ok(value.to_string()),
        Answer::Image { .. } => Err("no text".to_owned()),
    }
}

#[test]
fn the_definitions_are_those_of_the_file() {
    let check = |name: &str, tools: usize| assert_eq!(replay(name).tools().len(), tools, "{name}");
    check("github", 117);
    check("atlassian", 98);
    check("grafana", 79);
}

type Call = (&'static str, &'static str, Value);

fn calls_about_records_and_code() -> Vec<Call> {
    let shop = |table: &str| json!({"baseId": "appShopRecords001", "tableId": table, "maxRecords": 3});
    vec![
        ("airtable", "list_records", shop("tblTickets0000001")),
        ("airtable", "list_records", shop("Orders")),
        ("airtable", "list_records", shop("tblOrderLines0001")),
        ("github", "search_pull_requests", json!({"query": "repo:acme/storefront is:open"})),
        ("github", "list_issues", json!({"owner": "acme", "repo": "storefront"})),
        (
            "github",
            "issue_read",
            json!({"owner": "acme", "repo": "basket", "method": "get_comments", "issue_number": 9}),
        ),
        ("github", "list_pull_requests", json!({"owner": "acme", "repo": "storefront"})),
        (
            "github",
            "pull_request_read",
            json!({"owner": "acme", "repo": "basket", "method": "get_reviews", "pullNumber": 1010}),
        ),
        (
            "github",
            "issue_write",
            json!({"owner": "acme", "repo": "basket", "method": "create", "title": "A title"}),
        ),
        (
            "github",
            "add_issue_comment",
            json!({"owner": "acme", "repo": "basket", "issue_number": 9, "body": "Yes."}),
        ),
        ("hubspot", "hubspot-list-objects", json!({"objectType": "deals", "limit": 3})),
        (
            "hubspot",
            "hubspot-batch-update-objects",
            json!({"objectType": "deals", "inputs": [{"id": "1", "properties": {}}]}),
        ),
        (
            "hubspot",
            "hubspot-create-engagement",
            json!({"type": "NOTE", "ownerId": 7, "associations": {}, "metadata": {"body": "x"}}),
        ),
    ]
}

fn calls_about_tickets_and_operations() -> Vec<Call> {
    vec![
        ("atlassian", "jira_search", json!({"jql": "project = SHOP"})),
        ("atlassian", "jira_get_issue", json!({"issue_key": "SHOP-4321"})),
        (
            "atlassian",
            "jira_create_issue",
            json!({"project_key": "SHOP", "summary": "A title", "issue_type": "Bug"}),
        ),
        ("atlassian", "jira_add_comment", json!({"issue_key": "SHOP-1", "body": "Yes."})),
        ("grafana", "list_datasources", json!({})),
        ("grafana", "search_dashboards", json!({"query": "check"})),
        (
            "grafana",
            "query_prometheus",
            json!({"datasourceUid": "u", "expr": "up", "endTime": "now", "queryType": "instant"}),
        ),
        ("kubernetes", "kubectl_get", json!({"resourceType": "pods", "namespace": "shop"})),
        (
            "kubernetes",
            "kubectl_logs",
            json!({"resourceType": "pod", "name": "basket-1", "namespace": "shop", "tail": 9}),
        ),
        ("sentry", "find_organizations", json!({})),
        ("sentry", "search_issues", json!({"organizationSlug": "acme"})),
        (
            "sentry",
            "update_issue",
            json!({"organizationSlug": "acme", "issueId": "SHOP-1", "status": "resolved"}),
        ),
    ]
}

#[test]
fn every_scripted_answer_is_the_same_on_every_start() {
    let calls = [calls_about_records_and_code(), calls_about_tickets_and_operations()].concat();
    for (server, tool, arguments) in calls {
        let answer = || call(&replay(server), tool, &arguments).expect(tool);
        assert_eq!(answer(), answer(), "{server}.{tool}");
        assert!(!answer().is_empty(), "{server}.{tool}");
    }
}

#[test]
fn pages_hold_everything_once() {
    let github = replay("github");
    let (mut numbers, mut after) = (Vec::new(), None);
    loop {
        let mut arguments =
            json!({"owner": "acme", "repo": "storefront", "perPage": 40, "fields": ["number"]});
        if let Some(after) = after {
            arguments["after"] = after;
        }
        let page: Value =
            serde_json::from_str(&call(&github, "list_issues", &arguments).expect("a page")).expect("JSON");
        numbers.extend(
            page["issues"].as_array().into_iter().flatten().filter_map(|issue| issue["number"].as_u64()),
        );
        if page["pageInfo"]["hasNextPage"] != true {
            assert_eq!(page["totalCount"], numbers.len());
            break;
        }
        after = Some(page["pageInfo"]["endCursor"].clone());
    }
    let all: Vec<u64> = (1..=numbers.len() as u64).rev().collect();
    assert_eq!(numbers, all);
}

#[test]
fn a_range_has_a_sample_for_each_step_of_each_series() {
    let arguments = json!({
        "datasourceUid": "u", "expr": "x", "queryType": "range", "startTime": "now-25h", "endTime": "now", "stepSeconds": 90,
    });
    let answer: Value =
        serde_json::from_str(&call(&replay("grafana"), "query_prometheus", &arguments).expect("series"))
            .expect("JSON");
    let samples =
        answer["data"].as_array().into_iter().flatten().filter_map(|series| series["values"].as_array());
    assert_eq!(samples.map(Vec::len).sum::<usize>(), 50_000);
}

fn value(server: &str, tool: &str, arguments: &Value) -> Value {
    let text = call(&replay(server), tool, arguments).expect(tool);
    serde_json::from_str(&text).expect("JSON")
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn who_asks_for_a_few_fields_is_given_no_others() {
    let asked = json!({"objectType": "contacts", "limit": 1, "properties": ["email"]});
    let contacts = value("hubspot", "hubspot-list-objects", &asked);
    let mut given = names(&contacts["results"][0]["properties"]);
    given.sort_unstable();
    assert_eq!(given, ["createdate", "email", "hs_lastmodifieddate", "hs_object_id"]);
    let of_itself = value("hubspot", "hubspot-list-objects", &json!({"objectType": "contacts", "limit": 1}));
    let of_itself = &of_itself["results"][0]["properties"];
    assert!(of_itself["firstname"].is_string() && of_itself["phone"].is_null(), "{of_itself}");
    let asked = json!({"issue_key": "SHOP-4321", "fields": "summary,status", "comment_limit": 0});
    let issue = value("atlassian", "jira_get_issue", &asked);
    let mut given = names(&issue);
    given.sort_unstable();
    assert_eq!(given, ["id", "key", "status", "summary", "url"]);
    let asked = json!({
        "baseId": "appShopRecords001", "tableId": "tblOrderLines0001", "fields": ["Quantity"],
    });
    let lines = value("airtable", "list_records", &asked);
    assert_eq!(lines["records"].as_array().map(Vec::len), Some(50_000));
    assert_eq!(names(&lines["records"][0]["fields"]), ["Quantity"]);
}

#[test]
fn lists_are_sorted_filtered_and_cut_as_asked() {
    let asked = json!({
        "owner": "acme", "repo": "storefront", "orderBy": "COMMENTS", "direction": "DESC", "fields": ["comments"],
    });
    let page = value("github", "list_issues", &asked);
    let comments = page["issues"].as_array().into_iter().flatten().filter_map(|one| one["comments"].as_u64());
    assert!(comments.is_sorted_by(|one, other| one >= other), "{page}");
    let asked = json!({"owner": "acme", "repo": "storefront", "direction": "asc", "fields": ["number"]});
    let page = value("github", "list_pull_requests", &asked);
    let numbers = page.as_array().into_iter().flatten().filter_map(|one| one["number"].as_u64());
    assert!(numbers.is_sorted(), "{page}");
    let asked = json!({"organizationSlug": "acme", "sort": "user", "limit": 5});
    let found = call(&replay("sentry"), "search_issues", &asked).expect("issues");
    let users =
        found.split("**Users**: ").skip(1).filter_map(|rest| rest.lines().next()?.parse::<u64>().ok());
    let users: Vec<u64> = users.collect();
    assert!(users.len() == 5 && users.is_sorted_by(|one, other| one >= other), "{found}");
    let filters = json!([{"propertyName": "dealstage", "operator": "EQ", "value": "closedwon"}]);
    let asked = json!({
        "objectType": "deals", "limit": 2, "filterGroups": [{"filters": filters}],
        "sorts": [{"propertyName": "amount", "direction": "DESCENDING"}],
    });
    let found = value("hubspot", "hubspot-search-objects", &asked);
    let results = found["results"].as_array().expect("results");
    let amount =
        |deal: &Value| deal["properties"]["amount"].as_str().and_then(|text| text.parse::<u64>().ok());
    assert!(found["total"].as_u64() > Some(2) && results.len() == 2, "{found}");
    assert!(results.iter().all(|deal| deal["properties"]["dealstage"] == "closedwon"), "{found}");
    assert!(results.is_sorted_by(|one, other| amount(one) >= amount(other)), "{found}");
}

#[test]
fn pods_are_written_as_kubectl_writes_them() {
    let get = |output: &str| {
        let asked = json!({"resourceType": "pods", "namespace": "shop", "output": output});
        call(&replay("kubernetes"), "kubectl_get", &asked)
    };
    let pods = get("name").expect("names");
    assert!(pods.lines().count() == 60 && pods.lines().all(|line| line.starts_with("pod/")), "{pods}");
    let table = get("wide").expect("a table");
    assert!(table.starts_with("NAME ") && table.lines().count() == 61, "{table}");
    assert!(get("yaml").is_err_and(|error| error.contains("no answer is scripted")));
}

#[test]
fn what_is_not_scripted_or_not_there_is_refused_in_words() {
    let check = |server: &str, tool: &str, arguments: Value, words: &str| {
        let error = call(&replay(server), tool, &arguments).expect_err(tool);
        assert!(error.contains(words), "{error}");
    };
    check("github", "list_branches", json!({"owner": "a", "repo": "b"}), "no answer is scripted for it");
    check("github", "list_isues", json!({}), "did you mean `list_issues`?");
    check("github", "list_issues", json!({"owner": "a"}), "needs `repo`");
    check("maps", "maps_geocode", json!({"address": "Oslo"}), "for its definition only");
    let error = Replay::new(None).err();
    assert!(error.is_some_and(|error| error.contains("example-server replay FILE")));
    let error = Replay::new(Some(std::path::Path::new("/nowhere/file.json"))).err();
    assert!(error.is_some_and(|error| error.starts_with("/nowhere/file.json: ")));
}

#[test]
fn a_definition_that_is_none_is_named_with_its_file() {
    let folder = gristmill_testkit::TestFolder::new("replay");
    let file = folder.path().join("odd.json");
    let check = |tools: Value, says: &str| {
        std::fs::write(&file, json!({"server": "odd", "tools": tools}).to_string()).expect("written");
        let expected = format!("{}: {says}", file.display());
        assert_eq!(Replay::new(Some(&file)).err(), Some(expected));
    };
    let whole = json!({"name": "a", "inputSchema": {"type": "object"}});
    check(json!([whole, {"name": "b"}]), "the tool `b` has no `inputSchema`, which is an object");
    check(json!([whole, 7]), "the tool at place 2 has no `name`");
}
