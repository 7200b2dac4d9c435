//! Work of an office day with nineteen servers connected, more than five hundred tools.

use serde_json::{Value, json};

use super::EVERYTHING;
use crate::commands::bench::tokens::direct::{Direct, items, number, text, whole};
use crate::commands::bench::tokens::job::{Group, Job, find_in};

pub fn jobs() -> Vec<Job> {
    vec![
        Job {
            name: "transcript-to-crm",
            group: Group::LargeCatalogue,
            task: "Put the transcript DOC-0107 from the documents into the notes of meeting MTG-0042 in the CRM, and mark the meeting as held.",
            servers: EVERYTHING,
            queries: vec![find_in("documents", "get the full text"), find_in("crm", "update a record")],
            first_look: None,
            program: include_str!("../programs/transcript-to-crm.py"),
            direct: transcript_to_crm,
            closing: |done| {
                format!(
                    "MTG-0042 is marked as held and has the transcript of {} words in its notes.",
                    done["words"]
                )
            },
        },
        Job {
            name: "bug-to-ticket",
            group: Group::LargeCatalogue,
            task: "Find the open bug with the most comments in acme/storefront on GitHub, open a Jira bug for it in SHOP with what people said, and name the ticket on the issue.",
            servers: EVERYTHING,
            queries: vec![
                find_in("github", "list issues"),
                find_in("github", "read comments of an issue"),
                find_in("github", "add comment to an issue"),
                find_in("atlassian", "create jira bug ticket"),
            ],
            first_look: None,
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
        },
        Job {
            name: "incident",
            group: Group::LargeCatalogue,
            task: "Errors are up. Which service has the highest error rate in Grafana, which of its pods in the namespace shop is in trouble, and what do the last 40 lines of its log say? Open a bug in OPS with the errors.",
            servers: EVERYTHING,
            queries: vec![
                find_in("grafana", "list datasources"),
                find_in("grafana", "query a prometheus expression"),
                find_in("kubernetes", "list pods"),
                find_in("kubernetes", "logs of a pod"),
                find_in("atlassian", "create jira bug ticket"),
            ],
            first_look: Some(include_str!("../programs/incident.look.py")),
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
        },
        Job {
            name: "weekly-figures",
            group: Group::LargeCatalogue,
            task: "For the weekly report: open issues and open pull requests of acme/storefront, acme/basket and acme/payments, new unresolved errors in Sentry, and SHOP tickets done in the last seven days.",
            servers: EVERYTHING,
            queries: vec![
                find_in("github", "list issues"),
                find_in("github", "list pull requests"),
                find_in("sentry", "search issues"),
                find_in("sentry", "find organizations"),
                find_in("atlassian", "search jira issues with JQL"),
            ],
            first_look: None,
            program: include_str!("../programs/weekly-figures.py"),
            direct: weekly_figures,
            closing: |done| format!("The figures of the week: {done}"),
        },
        Job {
            name: "overdue-deals",
            group: Group::LargeCatalogue,
            task: "Which open deals in HubSpot are past their close date? Move the three largest to 30 June and give owner 7 a task to call about each.",
            servers: EVERYTHING,
            queries: vec![
                find_in("hubspot", "paginated list of objects"),
                find_in("hubspot", "update objects in a batch"),
                find_in("hubspot", "create a task engagement"),
            ],
            first_look: Some(include_str!("../programs/overdue-deals.look.py")),
            program: include_str!("../programs/overdue-deals.py"),
            direct: overdue_deals,
            closing: |done| {
                format!(
                    "{} open deals are overdue. Moved, each with a task: {}.",
                    done["overdue"], done["moved"]
                )
            },
        },
        Job {
            name: "customer-brief",
            group: Group::LargeCatalogue,
            task: "Prepare my call with Kestrel Foods: their account, when we last called, their open tickets by priority, what the best document about them is. Leave a note on the account.",
            servers: EVERYTHING,
            queries: vec![
                find_in("crm", "search records"),
                find_in("crm", "activities of a record"),
                find_in("crm", "add a note"),
                find_in("database", "query with SQL"),
                find_in("documents", "search documents"),
                find_in("documents", "get the full text"),
            ],
            first_look: None,
            program: include_str!("../programs/customer-brief.py"),
            direct: customer_brief,
            closing: |done| {
                format!(
                    "{}, last called {}. {}",
                    text(&done["account"]),
                    text(&done["last_call"]),
                    text(&done["note"])
                )
            },
        },
        Job {
            name: "one-ticket",
            group: Group::LargeCatalogue,
            task: "Who is working on SHOP-4321 in Jira, and how far is it?",
            servers: EVERYTHING,
            queries: vec![find_in("atlassian", "get a jira issue")],
            first_look: None,
            program: include_str!("../programs/one-ticket.py"),
            direct: |direct| {
                let arguments = json!({"issue_key": "SHOP-4321", "fields": "summary,status,assignee", "comment_limit": 0});
                direct.call("atlassian", "jira_get_issue", arguments)
            },
            closing: |issue| {
                format!(
                    "{} has it; it is {}.",
                    text(&issue["assignee"]["display_name"]),
                    text(&issue["status"]["name"])
                )
            },
        },
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
            first_look: None,
            program: include_str!("../programs/review-queue.py"),
            direct: review_queue,
            closing: |waiting| format!("I asked for a review on {waiting}."),
        },
        Job {
            name: "assign-errors",
            group: Group::LargeCatalogue,
            task: "Assign the five unresolved Sentry issues with the most users to the team checkout, and open a SHOP bug for the worst.",
            servers: EVERYTHING,
            queries: vec![
                find_in("sentry", "search issues"),
                find_in("sentry", "find organizations"),
                find_in("sentry", "assign an issue"),
                find_in("atlassian", "create jira bug ticket"),
            ],
            first_look: Some(include_str!("../programs/assign-errors.look.py")),
            program: include_str!("../programs/assign-errors.py"),
            direct: assign_errors,
            closing: |done| {
                format!("Assigned: {}. The worst is {} in Jira.", done["assigned"], text(&done["ticket"]))
            },
        },
    ]
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
        "owner": "acme", "repo": "storefront", "state": "OPEN", "labels": ["bug"], "perPage": 100,
        "fields": ["number", "title", "comments"],
    });
    let page = direct.call("github", "list_issues", arguments)?;
    // Of equal ones the first, as Python's max does it.
    let most = items(&page["issues"])
        .iter()
        .rev()
        .max_by_key(|issue| whole(&issue["comments"]))
        .cloned()
        .unwrap_or_default();
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
    let arguments =
        json!({"project_key": project, "summary": summary, "issue_type": "Bug", "description": description});
    let made = direct.call("atlassian", "jira_create_issue", arguments)?;
    Ok(text(&made["issue"]["key"]).to_owned())
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
            json!({"owner": "acme", "repo": repo, "state": "open", "perPage": 100, "fields": ["number"]});
        calls.push(("github", "list_issues", issues));
        calls.push(("github", "list_pull_requests", requests));
    }
    calls.push((
        "sentry",
        "search_issues",
        json!({"organizationSlug": "acme", "query": "is:unresolved is:new"}),
    ));
    let jql = "project = SHOP AND status = Done AND updated >= -7d";
    calls.push(("atlassian", "jira_search", json!({"jql": jql, "limit": 1, "fields": "summary"})));
    let answers = direct.calls(calls)?;
    let figures = repos.iter().zip(answers.chunks(2)).map(|(repo, pair)| {
        json!({"repo": repo, "open_issues": pair[0]["totalCount"], "open_pull_requests": items(&pair[1]).len()})
    });
    let figures: Vec<Value> = figures.collect();
    let found = text(&answers[6]).split("Found **").nth(1).and_then(|rest| rest.split("**").next());
    let new_errors: i64 = found.and_then(|count| count.parse().ok()).unwrap_or_default();
    Ok(json!({"repos": figures, "new_errors": new_errors, "done": answers[7]["total"]}))
}

fn overdue_deals(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let first =
        direct.call("hubspot", "hubspot-list-objects", json!({"objectType": "deals", "limit": 100}))?;
    let after = &first["paging"]["next"]["after"];
    let arguments = json!({"objectType": "deals", "limit": 100, "after": after});
    let second = direct.call("hubspot", "hubspot-list-objects", arguments)?;
    let amount = |deal: &Value| text(&deal["properties"]["amount"]).parse::<i64>().unwrap_or_default();
    let mut overdue: Vec<&Value> = items(&first["results"])
        .iter()
        .chain(items(&second["results"]))
        .filter(|deal| !text(&deal["properties"]["dealstage"]).starts_with("closed"))
        .filter(|deal| text(&deal["properties"]["closedate"]) < "2026-06-15")
        .collect();
    overdue.sort_by_key(|deal| (-amount(deal), text(&deal["id"]).to_owned()));
    let largest: Vec<&Value> = overdue.iter().take(3).copied().collect();
    let change = |deal: &&Value| json!({"id": deal["id"], "properties": {"closedate": "2026-06-30"}});
    let inputs: Vec<Value> = largest.iter().map(change).collect();
    direct.call(
        "hubspot",
        "hubspot-batch-update-objects",
        json!({"objectType": "deals", "inputs": inputs}),
    )?;
    let task = |deal: &&Value| {
        let id: i64 = text(&deal["id"]).parse().unwrap_or_default();
        let subject = format!("Call about {}", text(&deal["properties"]["dealname"]));
        let arguments = json!({
            "type": "TASK", "ownerId": 7, "associations": {"dealIds": [id]}, "metadata": {"subject": subject},
        });
        ("hubspot", "hubspot-create-engagement", arguments)
    };
    direct.calls(largest.iter().map(task).collect())?;
    let moved: Vec<&Value> = largest.iter().map(|deal| &deal["properties"]["dealname"]).collect();
    Ok(json!({"overdue": overdue.len(), "moved": moved}))
}

fn customer_brief(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let found = direct.call("crm", "search_records", json!({"type": "account", "query": "Kestrel Foods"}))?;
    let account = &found["records"][0];
    let sql = "SELECT priority, count(*) AS n FROM tickets WHERE account_id = ? AND status = 'open' GROUP BY priority ORDER BY priority";
    let answers = direct.calls(vec![
        ("crm", "list_activities", json!({"record_id": account["id"]})),
        ("database", "query", json!({"sql": sql, "params": [account["id"]]})),
        ("documents", "search_documents", json!({"query": account["name"], "limit": 3})),
    ])?;
    let best = &answers[2]["hits"][0]["document_id"];
    let document = direct.call("documents", "get_document", json!({"document_id": best}))?;
    let open: f64 = items(&answers[1]["rows"]).iter().map(|row| number(&row["n"])).sum();
    let note = format!("Brief: {open} open tickets; read {}.", text(&document["title"]));
    direct.call("crm", "add_note", json!({"record_id": account["id"], "text": note}))?;
    Ok(json!({"account": account["id"], "last_call": answers[0]["activities"][0]["at"], "note": note}))
}

fn review_queue(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let arguments = json!({
        "owner": "acme", "repo": "storefront", "state": "open", "perPage": 100, "fields": ["number", "draft", "created_at"],
    });
    let requests = direct.call("github", "list_pull_requests", arguments)?;
    let mut ready: Vec<&Value> = items(&requests).iter().filter(|one| one["draft"] == false).collect();
    ready.sort_by_key(|one| text(&one["created_at"]).to_owned());
    ready.truncate(8);
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
    direct.call("sentry", "find_organizations", json!({}))?;
    let found = direct.call(
        "sentry",
        "search_issues",
        json!({"organizationSlug": "acme", "query": "is:unresolved"}),
    )?;
    let mut issues: Vec<(i64, &str, &str)> =
        text(&found).split("\n## ").skip(1).filter_map(sentry_issue).collect();
    issues.sort_by_key(|(users, name, _)| (-users, *name));
    issues.truncate(5);
    let assign = |(_, name, _): &(i64, &str, &str)| {
        let arguments = json!({"organizationSlug": "acme", "issueId": name, "assignedTo": "team:checkout"});
        ("sentry", "update_issue", arguments)
    };
    direct.calls(issues.iter().map(assign).collect())?;
    let (users, name, title) = issues.first().copied().unwrap_or_default();
    let key = ticket(direct, "SHOP", title, &format!("{name}, {users} users"))?;
    let assigned: Vec<&str> = issues.iter().map(|(_, name, _)| *name).collect();
    Ok(json!({"assigned": assigned, "ticket": key}))
}

/// Users, name and title of one issue in the list.
fn sentry_issue(written: &str) -> Option<(i64, &str, &str)> {
    let name = written.split_once('[')?.1.split_once(']')?.0;
    let title = written.split_once("\n\n**")?.1.split_once("**\n")?.0;
    let users = written.split_once("**Users**: ")?.1.lines().next()?.parse().ok()?;
    Some((users, name, title))
}
