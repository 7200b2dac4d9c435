//! Answers as GitHub's server gives them: issues, comments, pull requests and reviews. Every repository
//! that is asked for is there.

use serde_json::{Map, Value, json};

use super::{Answered, number_of, words};
use crate::{arguments, calendar, noise};

/// What a cursor begins with.
const CURSOR: &str = "Y3Vyc29yOnYyOpK5";
const LABELS: [&str; 5] = ["bug", "enhancement", "question", "documentation", "performance"];

pub fn call(tool: &str, given: &Map<String, Value>) -> Answered {
    let place = || {
        Ok::<_, String>(Repository::new(arguments::text(given, "owner")?, arguments::text(given, "repo")?))
    };
    let answer = match tool {
        "list_issues" => place()?.issues(given)?,
        "issue_read" => place()?.issue(given)?,
        "list_pull_requests" => place()?.pull_requests(given)?,
        "search_pull_requests" => found_pull_requests(given)?,
        "pull_request_read" => place()?.reviews(given)?,
        "add_issue_comment" => place()?.commented(given)?,
        "issue_write" => place()?.written(given)?,
        _ => return Ok(None),
    };
    Ok(Some(answer.to_string()))
}

/// The fields that were asked for; all if none were.
fn only(value: &Value, given: &Map<String, Value>) -> Value {
    let Some(fields) = given.get("fields").and_then(Value::as_array) else { return value.clone() };
    let kept = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| fields.iter().any(|field| field == name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// The open pull requests of a repository, as `repo:owner/name is:open` finds them.
fn found_pull_requests(given: &Map<String, Value>) -> Result<Value, String> {
    let place = arguments::text(given, "query")?
        .strip_prefix("repo:")
        .and_then(|rest| rest.strip_suffix(" is:open")?.split_once('/'));
    let (owner, repo) = place.ok_or("the query is scripted as `repo:owner/name is:open` only")?;
    let repository = Repository::new(owner, repo);
    let found: Vec<Value> = (1..=repository.pull_requests)
        .rev()
        .map(|number| repository.pull_request(number))
        .filter(|request| request["state"] == "open")
        .collect();
    let size = arguments::whole(given, "perPage", 30, [1, 100])? as usize;
    let shown: Vec<Value> = found.iter().take(size).map(|request| only(request, given)).collect();
    Ok(json!({"total_count": found.len(), "incomplete_results": false, "items": shown}))
}

struct Repository {
    url: String,
    seed: u64,
    issues: u64,
    pull_requests: u64,
}

impl Repository {
    fn new(owner: &str, repo: &str) -> Self {
        let seed = number_of(&format!("{owner}/{repo}"));
        Self {
            url: format!("https://github.com/{owner}/{repo}"),
            seed,
            issues: 140 + noise::below(seed, 0, 0, 80),
            pull_requests: 50 + noise::below(seed, 0, 1, 40),
        }
    }

    fn issues(&self, given: &Map<String, Value>) -> Result<Value, String> {
        let state = arguments::optional_text(given, "state")?;
        let labels: Vec<&str> = given
            .get("labels")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut wanted: Vec<Value> = (1..=self.issues)
            .rev()
            .map(|number| self.issue_of(number))
            .filter(|issue| state.is_none_or(|state| issue["state"] == state))
            .filter(|issue| {
                let mut has = issue["labels"].as_array().into_iter().flatten().filter_map(Value::as_str);
                labels.is_empty() || has.any(|label| labels.contains(&label))
            })
            .collect();
        match (arguments::optional_text(given, "orderBy")?, arguments::optional_text(given, "direction")?) {
            (None, _) | (Some("CREATED_AT"), Some("DESC")) => {}
            (Some("COMMENTS"), Some("DESC")) => {
                wanted.sort_by_key(|issue| std::cmp::Reverse(issue["comments"].as_u64()));
            }
            (Some(_), _) => return Err("no answer is scripted for this order".to_owned()),
        }
        let size = arguments::whole(given, "perPage", 30, [1, 100])? as usize;
        let after = arguments::optional_text(given, "after")?;
        let start = after.and_then(|cursor| cursor.strip_prefix(CURSOR)?.parse().ok()).unwrap_or(0_usize);
        let shown: Vec<Value> =
            wanted.iter().skip(start).take(size).map(|issue| only(issue, given)).collect();
        let end = start + shown.len();
        Ok(json!({
            "issues": shown,
            "pageInfo": {
                "endCursor": format!("{CURSOR}{end:08}"),
                "hasNextPage": end < wanted.len(),
                "hasPreviousPage": start > 0,
                "startCursor": format!("{CURSOR}{start:08}"),
            },
            "totalCount": wanted.len(),
        }))
    }

    fn issue_of(&self, number: u64) -> Value {
        let created = calendar::this_morning() - ((self.issues - number) * 43_200 + 3_600).cast_signed();
        let updated = created + noise::below(self.seed, number, 2, 40_000).cast_signed();
        let first = noise::pick(LABELS, self.seed, number, 3);
        let second = noise::pick(LABELS, self.seed, number, 4);
        let labels: Vec<&str> = if first == second { vec![first] } else { vec![first, second] };
        json!({
            "number": number,
            "title": words::title(self.seed, number),
            "body": words::report(self.seed, number),
            "state": if noise::below(self.seed, number, 5, 3) == 0 { "CLOSED" } else { "OPEN" },
            "user": self.user(number, 6),
            "labels": labels,
            "assignees": [words::login(self.seed, number, 7)],
            "comments": self.comments_of(number),
            "html_url": format!("{}/issues/{number}", self.url),
            "created_at": calendar::time_of(created),
            "updated_at": calendar::time_of(updated),
        })
    }

    fn comments_of(&self, number: u64) -> u64 {
        noise::below(self.seed, number, 8, 14)
    }

    fn user(&self, number: u64, place: u64) -> Value {
        let login = words::login(self.seed, number, place);
        json!({"login": login, "id": number_of(login) % 90_000_000, "profile_url": format!("https://github.com/{login}")})
    }

    fn number(&self, given: &Map<String, Value>, name: &str, count: u64) -> Result<u64, String> {
        arguments::whole(given, name, 1, [1, count])
            .map_err(|_| format!("failed to get {name}: 404 Not Found"))
    }

    fn issue(&self, given: &Map<String, Value>) -> Result<Value, String> {
        let number = self.number(given, "issue_number", self.issues)?;
        match arguments::text(given, "method")? {
            "get" => Ok(self.issue_of(number)),
            "get_comments" => {
                Ok((0..self.comments_of(number)).map(|place| self.comment(number, place)).collect())
            }
            other => Err(format!("no answer is scripted for the method {}", arguments::shown(other))),
        }
    }

    fn comment(&self, number: u64, place: u64) -> Value {
        let id = 2_400_000_000 + self.seed % 1_000_000 + number * 100 + place;
        let at = calendar::time_of(calendar::this_morning() - ((200 - place) * 3_600).cast_signed());
        json!({
            "id": id,
            "html_url": format!("{}/issues/{number}#issuecomment-{id}", self.url),
            "body": words::remark(self.seed, number, place),
            "user": self.user(number, 200 + place),
            "author_association": noise::pick(["MEMBER", "CONTRIBUTOR", "NONE"], self.seed, number, 300 + place),
            "created_at": at,
            "updated_at": at,
        })
    }

    fn pull_requests(&self, given: &Map<String, Value>) -> Result<Value, String> {
        let state = arguments::optional_text(given, "state")?.unwrap_or("open");
        let is_oldest_first = match (
            arguments::optional_text(given, "sort")?.unwrap_or("created"),
            arguments::optional_text(given, "direction")?.unwrap_or("desc"),
        ) {
            ("created", direction) => direction == "asc",
            (_, _) => return Err("no answer is scripted for this order".to_owned()),
        };
        let place = |number: u64| if is_oldest_first { number } else { self.pull_requests + 1 - number };
        let wanted = (1..=self.pull_requests)
            .map(|number| self.pull_request(place(number)))
            .filter(|request| state == "all" || request["state"] == state);
        let size = arguments::whole(given, "perPage", 30, [1, 100])? as usize;
        let page = arguments::whole(given, "page", 1, [1, 1_000])? as usize;
        Ok(wanted.skip((page - 1) * size).take(size).map(|request| only(&request, given)).collect())
    }

    fn pull_request(&self, number: u64) -> Value {
        let is_open = noise::below(self.seed, number, 20, 3) > 0;
        let branch = words::title(self.seed, 1_000 + number).to_lowercase().replace(' ', "-");
        let sha = |place| {
            format!(
                "{:016x}{:016x}",
                noise::at(self.seed, number, place),
                noise::at(self.seed, number, place + 1)
            )
        };
        let created =
            calendar::this_morning() - ((self.pull_requests - number) * 50_000 + 7_200).cast_signed();
        json!({
            "number": 1_000 + number,
            "title": format!("Fix: {}", words::title(self.seed, 1_000 + number)),
            "body": words::report(self.seed, 1_000 + number),
            "state": if is_open { "open" } else { "closed" },
            "draft": noise::below(self.seed, number, 21, 8) == 0,
            "merged": !is_open,
            "mergeable_state": if is_open { "clean" } else { "unknown" },
            "html_url": format!("{}/pull/{}", self.url, 1_000 + number),
            "user": self.user(number, 22),
            "labels": [noise::pick(LABELS, self.seed, number, 23)],
            "requested_reviewers": [words::login(self.seed, number, 24)],
            "head": {"ref": branch, "sha": sha(25)},
            "base": {"ref": "main", "sha": sha(27)},
            "additions": 1 + noise::below(self.seed, number, 29, 600),
            "deletions": noise::below(self.seed, number, 30, 300),
            "changed_files": 1 + noise::below(self.seed, number, 31, 20),
            "commits": 1 + noise::below(self.seed, number, 32, 9),
            "comments": noise::below(self.seed, number, 33, 12),
            "created_at": calendar::time_of(created),
            "updated_at": calendar::time_of(created + 30_000),
        })
    }

    fn reviews(&self, given: &Map<String, Value>) -> Result<Value, String> {
        let number = arguments::whole(given, "pullNumber", 1, [1_001, 1_000 + self.pull_requests])
            .map_err(|_| "failed to get pull request: 404 Not Found".to_owned())?;
        match arguments::text(given, "method")? {
            "get_reviews" => Ok((0..noise::below(self.seed, number, 40, 4))
                .map(|place| self.review(number, place))
                .collect()),
            other => Err(format!("no answer is scripted for the method {}", arguments::shown(other))),
        }
    }

    fn review(&self, number: u64, place: u64) -> Value {
        let id = 1_900_000_000 + number * 10 + place;
        json!({
            "id": id,
            "state": noise::pick(["APPROVED", "COMMENTED", "CHANGES_REQUESTED"], self.seed, number, 41 + place),
            "body": words::remark(self.seed, number, place),
            "html_url": format!("{}/pull/{number}#pullrequestreview-{id}", self.url),
            "user": self.user(number, 45 + place),
            "author_association": "MEMBER",
            "submitted_at": calendar::time_of(calendar::this_morning() - (place * 7_000).cast_signed()),
        })
    }

    fn commented(&self, given: &Map<String, Value>) -> Result<Value, String> {
        let number = arguments::whole(given, "issue_number", 1, [1, 1_000_000])?;
        let id = 2_500_000_000
            + number_of(arguments::optional_text(given, "body")?.unwrap_or_default()) % 10_000_000;
        Ok(json!({"id": id.to_string(), "url": format!("{}/issues/{number}#issuecomment-{id}", self.url)}))
    }

    fn written(&self, given: &Map<String, Value>) -> Result<Value, String> {
        let number = self.issues + self.pull_requests + 1;
        let id = number_of(arguments::optional_text(given, "title")?.unwrap_or_default()) % 1_000_000_000;
        Ok(json!({"id": id.to_string(), "url": format!("{}/issues/{number}", self.url)}))
    }
}
