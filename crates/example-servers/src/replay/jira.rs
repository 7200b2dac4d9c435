//! Answers as the server for Jira gives them.

use serde_json::{Map, Value, json};

use super::{Answered, number_of, words};
use crate::{arguments, calendar, noise};

const SITE: &str = "https://acme.atlassian.net";
const STATUSES: [&str; 4] = ["To Do", "In Progress", "In Review", "Done"];
const PRIORITIES: [&str; 4] = ["Low", "Medium", "High", "Highest"];
/// How many issues any search finds.
const FOUND: u64 = 64;

pub fn call(tool: &str, given: &Map<String, Value>) -> Answered {
    let answer = match tool {
        "jira_search" => search(given)?,
        "jira_get_issue" => get(given)?,
        "jira_create_issue" => create(given)?,
        "jira_add_comment" => comment(given)?,
        _ => return Ok(None),
    };
    // This server writes its JSON over several lines.
    Ok(Some(format!("{answer:#}")))
}

fn search(given: &Map<String, Value>) -> Result<Value, String> {
    let seed = number_of(arguments::text(given, "jql")?);
    let start = arguments::whole(given, "start_at", 0, [0, 100_000])?;
    let limit = arguments::whole(given, "limit", 10, [1, 50])?;
    let end = (start + limit).min(FOUND);
    let fields = arguments::optional_text(given, "fields")?;
    let issues: Vec<Value> =
        (start..end).map(|number| only(issue(seed, &format!("SHOP-{}", 4_200 - number)), fields)).collect();
    Ok(json!({"total": FOUND, "start_at": start, "max_results": limit, "issues": issues}))
}

fn get(given: &Map<String, Value>) -> Result<Value, String> {
    let key = arguments::text(given, "issue_key")?;
    let seed = number_of(key);
    let mut issue = only(issue(seed, key), arguments::optional_text(given, "fields")?);
    let comments_max = arguments::whole(given, "comment_limit", 10, [0, 100])?;
    if comments_max == 0 {
        return Ok(issue);
    }
    let comments = (0..noise::below(seed, 0, 9, 6).min(comments_max)).map(|place| {
        json!({
            "id": (10_000 + seed % 1_000 + place).to_string(),
            "body": words::remark(seed, 1, place),
            "author": person(seed, 20 + place),
            "created": calendar::time_of(calendar::this_morning() - (place * 9_000).cast_signed()),
        })
    });
    issue["comments"] = comments.collect();
    Ok(issue)
}

/// Of an issue what was asked for; what it is known by is always there.
fn only(mut issue: Value, fields: Option<&str>) -> Value {
    if let (Some(fields), Some(members)) = (fields.filter(|fields| *fields != "*all"), issue.as_object_mut())
    {
        let wanted: Vec<&str> = fields.split(',').map(str::trim).collect();
        members.retain(|name, _| {
            matches!(name.as_str(), "id" | "key" | "url") || wanted.contains(&name.as_str())
        });
    }
    issue
}

fn issue(seed: u64, key: &str) -> Value {
    let number = number_of(key);
    let created = calendar::this_morning() - (3_600 + noise::below(seed, number, 0, 5_000_000)).cast_signed();
    json!({
        "id": (100_000 + number % 800_000).to_string(),
        "key": key,
        "url": format!("{SITE}/browse/{key}"),
        "summary": words::title(seed, number),
        "description": words::report(seed, number),
        "status": {"name": noise::pick(STATUSES, seed, number, 1), "category": "In Progress", "color": "yellow"},
        "issue_type": {"name": noise::pick(["Bug", "Task", "Story"], seed, number, 2)},
        "priority": {"name": noise::pick(PRIORITIES, seed, number, 3)},
        "labels": ["shop"],
        "reporter": person(number, 4),
        "assignee": person(number, 5),
        "created": calendar::time_of(created),
        "updated": calendar::time_of(created + 3_000),
    })
}

fn person(seed: u64, place: u64) -> Value {
    let login = words::login(seed, 0, place);
    json!({
        "display_name": login,
        "name": login,
        "email": format!("{login}@example.com"),
        "avatar_url": format!("{SITE}/avatar/{:08x}.png", noise::at(seed, 0, place) >> 32),
    })
}

fn create(given: &Map<String, Value>) -> Result<Value, String> {
    let project = arguments::text(given, "project_key")?;
    let summary = arguments::text(given, "summary")?;
    let key = format!("{project}-{}", 5_000 + number_of(summary) % 4_000);
    Ok(json!({
        "message": "Issue created successfully",
        "issue": {
            "id": (100_000 + number_of(&key) % 800_000).to_string(),
            "key": key,
            "url": format!("{SITE}/browse/{key}"),
            "summary": summary,
            "description": arguments::optional_text(given, "description")?,
            "status": {"name": "To Do", "category": "To Do", "color": "blue-gray"},
            "issue_type": {"name": arguments::text(given, "issue_type")?},
            "priority": {"name": "Medium"},
        },
    }))
}

fn comment(given: &Map<String, Value>) -> Result<Value, String> {
    let body = arguments::text(given, "body")?;
    Ok(json!({
        "id": (10_000 + number_of(body) % 90_000).to_string(),
        "body": body,
        "author": "gristmill",
        "created": calendar::time_of(calendar::this_morning()),
    }))
}
