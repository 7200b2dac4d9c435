//! Work of an office day with nineteen servers connected, more than five hundred tools.

use serde_json::{Value, json};

use super::EVERYTHING;
use crate::tokens::direct::{Direct, items, text, whole};
use crate::tokens::job::{Group, Job, find_in, look_at_item, look_at_one, look_at_shape};

pub fn jobs() -> Vec<Job> {
    vec![
        transcript_to_crm_job(),
        bug_to_ticket_job(),
        incident_job(),
        weekly_figures_job(),
        overdue_deals_job(),
        customer_brief_job(),
        one_ticket_job(),
        review_queue_job(),
        assign_errors_job(),
    ]
}

fn transcript_to_crm_job() -> Job {
    Job {
        name: "transcript-to-crm",
        group: Group::LargeCatalogue,
        task: "Put the transcript DOC-0107 from the documents into the notes of meeting MTG-0042 in the CRM, and mark the meeting as held.",
        servers: EVERYTHING,
        queries: vec![find_in("documents", "get the full text"), find_in("crm", "update a record")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/transcript-to-crm.py"),
        direct: transcript_to_crm,
        closing: |done| {
            format!(
                "MTG-0042 is marked as held and has the transcript of {} words in its notes.",
                done["words"]
            )
        },
    }
}

fn bug_to_ticket_job() -> Job {
    Job {
        name: "bug-to-ticket",
        group: Group::LargeCatalogue,
        task: "Find the open bug with the most comments in acme/storefront on GitHub, open a Jira bug for it in SHOP with what people said, and name the ticket on the issue.",
        servers: EVERYTHING,
        queries: vec![
            find_in("github", "list issues"),
            find_in("github", "read comments of an issue"),
            find_in("github", "comment on an issue"),
            find_in("atlassian", "create jira bug ticket"),
        ],
        definitions: &[],
        first_look: look_at_shape(include_str!("../programs/bug-to-ticket.look.py")),
        program: include_str!("../programs/bug-to-ticket.py"),
        direct: bug_to_ticket,
        closing: |done| {
            format!(
                "Issue {} with {} comments is now tracked as {}.",
                done["issue"],
                done["comments"],
                text(&done["ticket"])
            )
        },
    }
}

fn incident_job() -> Job {
    Job {
        name: "incident",
        group: Group::LargeCatalogue,
        task: "Errors are up. Which service has the highest error rate in Grafana, which of its pods in the namespace shop is in trouble, and what do the last 40 lines of its log say? Open a bug in OPS with the errors.",
        servers: EVERYTHING,
        queries: vec![
            find_in("grafana", "list datasources"),
            find_in("grafana", "query a prometheus expression"),
            find_in("kubernetes", "kubectl get, logs"),
            find_in("atlassian", "create jira bug ticket"),
        ],
        definitions: &[],
        first_look: look_at_one(include_str!("../programs/incident.look.py")),
        program: include_str!("../programs/incident.py"),
        direct: incident,
        closing: |done| {
            format!(
                "{} is the worst; its pod {} logged {} errors in the last 40 lines. The ticket is {}.",
                text(&done["service"]),
                text(&done["pod"]),
                done["errors"],
                text(&done["ticket"])
            )
        },
    }
}

fn weekly_figures_job() -> Job {
    Job {
        name: "weekly-figures",
        group: Group::LargeCatalogue,
        task: "For the weekly report: open issues and open pull requests of acme/storefront, acme/basket and acme/payments, new unresolved errors in Sentry, and SHOP tickets done in the last seven days.",
        servers: EVERYTHING,
        queries: vec![
            find_in("github", "list issues"),
            find_in("github", "search pull requests"),
            find_in("sentry", "search issues"),
            find_in("sentry", "find organizations"),
            find_in("atlassian", "search jira issues with JQL"),
        ],
        definitions: &[],
        first_look: look_at_shape(include_str!("../programs/weekly-figures.look.py")),
        program: include_str!("../programs/weekly-figures.py"),
        direct: weekly_figures,
        closing: |done| {
            let count = |repo: &str, which: usize| done["repos"][repo][which].to_string();
            let repo = |repo: &str| format!("{repo} {} and {}", count(repo, 0), count(repo, 1));
            format!(
                "Open issues and pull requests: {}, {}, {}. New errors: {}. Tickets done: {}.",
                repo("storefront"),
                repo("basket"),
                repo("payments"),
                text(&done["new_errors"]).split("**").nth(1).unwrap_or_default(),
                done["done"]
            )
        },
    }
}

fn overdue_deals_job() -> Job {
    Job {
        name: "overdue-deals",
        group: Group::LargeCatalogue,
        task: "Which open deals in HubSpot are past their close date? Move the three largest to 30 June and give owner 7 a task to call about each.",
        servers: EVERYTHING,
        queries: vec![
            find_in("hubspot", "search and update objects"),
            find_in("hubspot", "create a task engagement"),
        ],
        definitions: &[],
        first_look: look_at_item(include_str!("../programs/overdue-deals.look.py")),
        program: include_str!("../programs/overdue-deals.py"),
        direct: overdue_deals,
        closing: |done| {
            format!("{} open deals are overdue. Moved, each with a task: {}.", done["overdue"], done["moved"])
        },
    }
}

fn customer_brief_job() -> Job {
    Job {
        name: "customer-brief",
        group: Group::LargeCatalogue,
        task: "Prepare my call with Kestrel Foods: their account, when we last called, their open tickets by priority (table tickets of the database: account_id, status, priority), and which document fits them best. Leave a note on the account with the number of tickets and the document.",
        servers: EVERYTHING,
        queries: vec![
            find_in("crm", "search records, list activities, add note").showing(3),
            find_in("database", "query with SQL"),
            find_in("documents", "search documents"),
        ],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/customer-brief.py"),
        direct: customer_brief,
        closing: |done| {
            format!(
                "{} ({}), last called {}. Open tickets: {}. Read: {}. The note is on the account.",
                text(&done["account"]["name"]),
                text(&done["account"]["id"]),
                text(&done["last_call"]),
                done["open_tickets"],
                text(&done["document"])
            )
        },
    }
}

fn one_ticket_job() -> Job {
    Job {
        name: "one-ticket",
        group: Group::LargeCatalogue,
        task: "Who is working on SHOP-4321 in Jira, and how far is it?",
        servers: EVERYTHING,
        queries: vec![find_in("atlassian", "get a jira issue")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/one-ticket.py"),
        direct: |direct| {
            let arguments =
                json!({"issue_key": "SHOP-4321", "fields": "summary,status,assignee", "comment_limit": 0});
            direct.call("atlassian", "jira_get_issue", arguments)
        },
        closing: |issue| {
            format!(
                "{} has it; it is {}.",
                text(&issue["assignee"]["display_name"]),
                text(&issue["status"]["name"])
            )
        },
    }
}

fn review_queue_job() -> Job {
    Job {
        name: "review-queue",
        group: Group::LargeCatalogue,
        task: "Of the eight oldest open pull requests of acme/storefront that are no drafts, which have no approval yet? Ask for a review on each of those.",
        servers: EVERYTHING,
        queries: vec![
            find_in("github", "list pull requests"),
            find_in("github", "read reviews of a pull request"),
            find_in("github", "add comment to an issue"),
        ],
        definitions: &["github.list_pull_requests"],
        first_look: None,
        program: include_str!("../programs/review-queue.py"),
        direct: review_queue,
        closing: |waiting| format!("I asked for a review on {waiting}."),
    }
}

fn assign_errors_job() -> Job {
    Job {
        name: "assign-errors",
        group: Group::LargeCatalogue,
        task: "Assign the five unresolved Sentry issues of our organization acme with the most users to the team checkout, and open a SHOP bug for the worst.",
        servers: EVERYTHING,
        queries: vec![
            find_in("sentry", "search issues"),
            find_in("sentry", "assign an issue"),
            find_in("atlassian", "create jira bug ticket"),
        ],
        definitions: &[],
        first_look: look_at_one(include_str!("../programs/assign-errors.look.py")),
        program: include_str!("../programs/assign-errors.py"),
        direct: assign_errors,
        closing: |done| {
            format!("Assigned: {}. The worst is {} in Jira.", done["assigned"], text(&done["ticket"]))
        },
    }
}

fn transcript_to_crm(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let document = direct.call("documents", "get_document", json!({"document_id": "DOC-0107"}))?;
    let fields = json!({"notes": document["text"], "status": "held"});
    let changed = direct.call(
        "crm",
        "update_record",
        json!({"type": "meeting", "id": "MTG-0042", "fields": fields}),
    )?;
    Ok(json!({"words": document["words"], "changed": changed["updated_fields"]}))
}

fn bug_to_ticket(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let arguments = json!({
        "owner": "acme", "repo": "storefront", "state": "OPEN", "labels": ["bug"], "orderBy": "COMMENTS",
        "direction": "DESC", "perPage": 1, "fields": ["number", "title", "comments"],
    });
    let page = direct.call("github", "list_issues", arguments)?;
    let most = &page["issues"][0];
    let arguments = json!({"owner": "acme", "repo": "storefront", "method": "get_comments", "issue_number": most["number"]});
    let said = direct.call("github", "issue_read", arguments)?;
    let line = |one: &Value| format!("- {}: {}", text(&one["user"]["login"]), text(&one["body"]));
    let lines: Vec<String> = items(&said).iter().map(line).collect();
    let key = ticket(direct, "SHOP", text(&most["title"]), &lines.join("\n"))?;
    let arguments = json!({
        "owner": "acme", "repo": "storefront", "issue_number": most["number"], "body": format!("Tracked as {key}."),
    });
    direct.call("github", "add_issue_comment", arguments)?;
    Ok(json!({"issue": most["number"], "ticket": key, "comments": items(&said).len()}))
}

/// Opens a bug and gives its key.
fn ticket(
    direct: &mut Direct<'_>,
    project: &str,
    summary: &str,
    description: &str,
) -> anyhow::Result<String> {
    let made = direct.call("atlassian", "jira_create_issue", bug(project, summary, description))?;
    Ok(text(&made["issue"]["key"]).to_owned())
}

fn bug(project: &str, summary: &str, description: &str) -> Value {
    json!({"project_key": project, "summary": summary, "issue_type": "Bug", "description": description})
}

fn incident(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let sources = direct.call("grafana", "list_datasources", json!({"type": "prometheus"}))?;
    let arguments = json!({
        "datasourceUid": sources["datasources"][0]["uid"], "queryType": "instant", "endTime": "now",
        "expr": "sum by (service) (rate(errors_total[5m]))",
    });
    let rate = direct.call("grafana", "query_prometheus", arguments)?;
    let value = |series: &Value| text(&series["value"][1]).parse::<f64>().unwrap_or_default();
    let worst = items(&rate["data"]).iter().max_by(|one, other| value(one).total_cmp(&value(other)));
    let service = worst.map(|series| text(&series["metric"]["service"])).unwrap_or_default();
    let arguments =
        json!({"resourceType": "pods", "namespace": "shop", "labelSelector": format!("app={service}")});
    let pods = direct.call("kubernetes", "kubectl_get", arguments)?;
    let troubled = items(&pods["items"]).iter().find(|pod| pod["status"] != "Running");
    let pod =
        troubled.or_else(|| items(&pods["items"]).first()).map(|pod| text(&pod["name"])).unwrap_or_default();
    let arguments = json!({"resourceType": "pod", "name": pod, "namespace": "shop", "tail": 40});
    let log = direct.call("kubernetes", "kubectl_logs", arguments)?;
    let errors: Vec<&str> = text(&log).lines().filter(|line| line.contains(" ERROR ")).collect();
    let key = ticket(direct, "OPS", &format!("Errors in {service}"), &errors.join("\n"))?;
    Ok(json!({"service": service, "pod": pod, "errors": errors.len(), "ticket": key}))
}

fn weekly_figures(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    direct.call("sentry", "find_organizations", json!({}))?;
    let repos = ["storefront", "basket", "payments"];
    let mut calls = Vec::new();
    for repo in repos {
        let issues =
            json!({"owner": "acme", "repo": repo, "state": "OPEN", "perPage": 1, "fields": ["number"]});
        let requests =
            json!({"query": format!("repo:acme/{repo} is:open"), "perPage": 1, "fields": ["number"]});
        calls.push(("github", "list_issues", issues));
        calls.push(("github", "search_pull_requests", requests));
    }
    let errors = json!({"organizationSlug": "acme", "query": "is:unresolved is:new", "limit": 100});
    calls.push(("sentry", "search_issues", errors));
    let jql = "project = SHOP AND status = Done AND updated >= -7d";
    calls.push(("atlassian", "jira_search", json!({"jql": jql, "limit": 1, "fields": "summary"})));
    let answers = direct.calls(calls)?;
    let mut figures = json!({});
    for (repo, pair) in repos.iter().zip(answers.chunks(2)) {
        figures[*repo] = json!([pair[0]["totalCount"], pair[1]["total_count"]]);
    }
    let new_errors: String = text(&answers[6]).chars().take(80).collect();
    Ok(json!({"repos": figures, "new_errors": new_errors, "done": answers[7]["total"]}))
}

fn overdue_deals(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let filters = json!([
        {"propertyName": "closedate", "operator": "LT", "value": "2026-06-15"},
        {"propertyName": "dealstage", "operator": "NOT_IN", "values": ["closedwon", "closedlost"]},
    ]);
    let arguments = json!({
        "objectType": "deals", "limit": 3, "properties": ["dealname"], "filterGroups": [{"filters": filters}],
        "sorts": [{"propertyName": "amount", "direction": "DESCENDING"}],
    });
    let found = direct.call("hubspot", "hubspot-search-objects", arguments)?;
    let largest = items(&found["results"]);
    let change = |deal: &Value| json!({"id": deal["id"], "properties": {"closedate": "2026-06-30"}});
    let inputs: Vec<Value> = largest.iter().map(change).collect();
    let task = |deal: &Value| {
        let id: i64 = text(&deal["id"]).parse().unwrap_or_default();
        let subject = format!("Call about {}", text(&deal["properties"]["dealname"]));
        let arguments = json!({
            "type": "TASK", "ownerId": 7, "associations": {"dealIds": [id]}, "metadata": {"subject": subject},
        });
        ("hubspot", "hubspot-create-engagement", arguments)
    };
    let mut calls =
        vec![("hubspot", "hubspot-batch-update-objects", json!({"objectType": "deals", "inputs": inputs}))];
    calls.extend(largest.iter().map(task));
    direct.calls(calls)?;
    let moved: Vec<&Value> = largest.iter().map(|deal| &deal["properties"]["dealname"]).collect();
    Ok(json!({"overdue": found["total"], "moved": moved}))
}

fn customer_brief(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let found = direct.call("crm", "search_records", json!({"type": "account", "query": "Kestrel Foods"}))?;
    let account = &found["records"][0];
    let sql = "SELECT priority, count(*) AS n FROM tickets WHERE account_id = ? AND status = 'open' GROUP BY priority ORDER BY priority";
    let answers = direct.calls(vec![
        ("crm", "list_activities", json!({"record_id": account["id"]})),
        ("database", "query", json!({"sql": sql, "params": [account["id"]]})),
        ("documents", "search_documents", json!({"query": account["name"], "limit": 1})),
    ])?;
    let document = &answers[2]["hits"][0]["title"];
    let mut open_tickets = json!({});
    let mut open = 0;
    for row in items(&answers[1]["rows"]) {
        open += whole(&row["n"]);
        open_tickets[text(&row["priority"])] = row["n"].clone();
    }
    let note = format!("Brief: {open} open tickets; read {}.", text(document));
    direct.call("crm", "add_note", json!({"record_id": account["id"], "text": note}))?;
    let calls = items(&answers[0]["activities"]).iter().filter(|one| one["kind"] == "call");
    let last_call = calls.map(|one| text(&one["at"])).max();
    Ok(
        json!({"account": account, "last_call": last_call, "open_tickets": open_tickets, "document": document}),
    )
}

fn review_queue(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let arguments = json!({
        "owner": "acme", "repo": "storefront", "state": "open", "sort": "created", "direction": "asc",
        "perPage": 20, "fields": ["number", "draft"],
    });
    let requests = direct.call("github", "list_pull_requests", arguments)?;
    let ready: Vec<&Value> = items(&requests).iter().filter(|one| one["draft"] == false).take(8).collect();
    let review = |one: &&Value| {
        let arguments = json!({"owner": "acme", "repo": "storefront", "method": "get_reviews", "pullNumber": one["number"]});
        ("github", "pull_request_read", arguments)
    };
    let reviews = direct.calls(ready.iter().map(review).collect())?;
    let is_waiting = |given: &Value| items(given).iter().all(|one| one["state"] != "APPROVED");
    let waiting = ready
        .iter()
        .zip(&reviews)
        .filter(|(_, given)| is_waiting(given))
        .map(|(one, _)| one["number"].clone());
    let waiting: Vec<Value> = waiting.collect();
    let body = "This has waited for an approval the longest; could somebody look at it?";
    let ask = |number: &Value| {
        (
            "github",
            "add_issue_comment",
            json!({"owner": "acme", "repo": "storefront", "issue_number": number, "body": body}),
        )
    };
    direct.calls(waiting.iter().map(ask).collect())?;
    Ok(json!(waiting))
}

fn assign_errors(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let arguments = json!({"organizationSlug": "acme", "query": "is:unresolved", "sort": "user", "limit": 5});
    let found = direct.call("sentry", "search_issues", arguments)?;
    let issues: Vec<(&str, &str, &str)> =
        text(&found).split("\n## ").skip(1).filter_map(sentry_issue).collect();
    let assign = |(name, _, _): &(&str, &str, &str)| {
        let arguments = json!({"organizationSlug": "acme", "issueId": name, "assignedTo": "team:checkout"});
        ("sentry", "update_issue", arguments)
    };
    let mut calls: Vec<_> = issues.iter().map(assign).collect();
    let (name, title, users) = issues.first().copied().unwrap_or_default();
    calls.push(("atlassian", "jira_create_issue", bug("SHOP", title, &format!("{name}, {users} users"))));
    let answers = direct.calls(calls)?;
    let key = answers.last().map(|made| text(&made["issue"]["key"])).unwrap_or_default();
    let assigned: Vec<&str> = issues.iter().map(|(name, _, _)| *name).collect();
    Ok(json!({"assigned": assigned, "ticket": key}))
}

/// Name, title and users of one issue in the list.
fn sentry_issue(written: &str) -> Option<(&str, &str, &str)> {
    let name = written.split_once('[')?.1.split_once(']')?.0;
    let title = written.split_once("\n\n**")?.1.split_once("**\n")?.0;
    let users = written.split_once("**Users**: ")?.1.lines().next()?;
    Some((name, title, users))
}
