//! `gristmill tools review`: what servers offer that is not as it was approved, and approving it.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::audit::{ApprovedHow, AuditEvent};
use gristmill_gateway::domain::catalogue::{Approve, ItemKind, Waiting, WaitingKind, chosen, diff};
use gristmill_gateway::domain::counted;
use gristmill_gateway::upstream::Upstreams;
use serde_json::{Value, json};

use super::server_trouble::{ask_all, print_trouble};
use super::{Failure, Outcome};
use crate::exit_codes;
use crate::terminal::{self, Printable, confirmed, eprint_lines, one_line};

/// That something is to be approved, and what.
pub struct Approval {
    /// By name; everything that is shown if there is none.
    pub only: Vec<String>,
    /// Without being asked.
    pub yes: bool,
}

/// What waits, by server.
type AllWaiting = Vec<(String, Vec<Waiting>)>;

pub async fn review(
    upstreams: &Upstreams,
    only: Option<&str>,
    approval: Option<Approval>,
    json: bool,
    note: &(dyn Fn(AuditEvent) + Sync),
) -> Outcome {
    // What is on disk may be old: what the servers offer now is what is approved.
    match only {
        Some(name) if upstreams.check_one(name).await.is_none() => {
            return Err(Failure::Usage(anyhow!(
                "there's no server `{name}`\nhint: `gristmill list` shows the configured servers"
            )));
        }
        Some(_) => {}
        None => ask_all(upstreams).await,
    }
    let waiting: AllWaiting =
        upstreams.waiting().into_iter().filter(|(name, _)| only.is_none_or(|only| only == name)).collect();
    match json {
        true => print_json(&waiting),
        false => print_text(upstreams, &waiting, approval.is_some()),
    }
    print_trouble(upstreams);
    match approval {
        // Something waits: a script that asks must hear of it.
        None => Ok(ExitCode::from(u8::from(!waiting.is_empty()))),
        Some(approval) => approve(upstreams, &waiting, &approval, note),
    }
}

fn print_json(waiting: &AllWaiting) {
    let items = waiting.iter().flat_map(|(name, items)| items.iter().map(|item| waiting_json(name, item)));
    terminal::print_json(&Value::from(items.collect::<Vec<_>>()));
}

fn print_text(upstreams: &Upstreams, waiting: &AllWaiting, is_approved: bool) {
    for (server, items) in waiting {
        for item in items {
            print_item(server, item);
        }
    }
    let is_in_order = upstreams.statuses().iter().all(|status| status.unreadable.is_empty());
    if waiting.is_empty() && is_in_order {
        println!("no changes: everything is as you approved it");
    }
    if !waiting.is_empty() && !is_approved {
        eprint_lines("hint: gristmill tools review SERVER --approve; add --only NAME to approve just one");
    }
}

/// Pins exactly what was shown: what a server changes while a person reads stays unapproved.
fn approve(
    upstreams: &Upstreams,
    waiting: &AllWaiting,
    approval: &Approval,
    note: &(dyn Fn(AuditEvent) + Sync),
) -> Outcome {
    let mut refused = false;
    for (server, items) in waiting {
        let shown = chosen_of(server, items, &approval.only)?;
        let question = format!("Approve {} of {server} as shown?", counted(shown.len(), "change"));
        if !approval.yes && !approved(&question) {
            eprintln!("approved nothing for {server}");
            refused = true;
            continue;
        }
        let approved = upstreams.approve(server, Approve::Shown(&shown));
        let approved = approved.map_err(|error| Failure::Usage(error.into()))?;
        note(AuditEvent::tools_approved(server, &approved, ApprovedHow::Reviewed));
        if approved.len() < shown.len() {
            eprint_lines(&format!(
                "note: {server} changed again meanwhile\nhint: gristmill tools review {server}"
            ));
            refused = true;
        }
        let names: Vec<String> = approved.iter().map(|name| one_line(name)).collect();
        eprintln!("approved: {}", names.join(", "));
    }
    Ok(if refused { exit_codes::usage() } else { ExitCode::SUCCESS })
}

/// Those that were named, or all.
fn chosen_of(server: &str, items: &[Waiting], only: &[String]) -> Result<Vec<Waiting>, Failure> {
    if only.is_empty() {
        return Ok(items.to_vec());
    }
    let names: Vec<(ItemKind, &str)> = items.iter().map(|item| (item.of, item.name.as_str())).collect();
    let chosen = only.iter().map(|name| Ok(items[chosen(server, name, &names)?].clone()));
    let chosen: Result<Vec<Waiting>, gristmill_gateway::domain::catalogue::ChooseError> = chosen.collect();
    chosen.map_err(|error| {
        let hint = "hint: gristmill tools review shows what waits";
        Failure::Usage(anyhow!("{error}\n{hint}"))
    })
}

fn print_item(server: &str, item: &Waiting) {
    let name = one_line(&item.name);
    let title = match item.of {
        ItemKind::Tool => format!("{server}.{name}"),
        ItemKind::Instructions => format!("{server}: its title or instructions"),
        ItemKind::Prompt => format!("{server}: prompt {name}"),
        ItemKind::Resource => format!("{server}: resource {name}"),
        ItemKind::ResourceTemplate => format!("{server}: resource template {name}"),
    };
    match &item.kind {
        WaitingKind::Added => println!("{title} is new:\n+ {}\n", one_line(&item.raw)),
        WaitingKind::Changed { pinned_raw } => {
            println!("{title} changed:");
            for change in diff(pinned_raw, &item.raw) {
                println!("{}", Printable::all(&change.to_string()));
            }
            println!();
        }
    }
}

fn waiting_json(server: &str, waiting: &Waiting) -> Value {
    let (kind, changes) = match &waiting.kind {
        WaitingKind::Added => ("added", Vec::new()),
        WaitingKind::Changed { pinned_raw } => {
            let changes = diff(pinned_raw, &waiting.raw);
            ("changed", changes.into_iter().map(|change| change.to_string()).collect())
        }
    };
    let tool = (waiting.of == ItemKind::Tool).then_some(&waiting.name);
    json!({
        "server": server,
        "what": waiting.of.name(),
        "name": waiting.name,
        "label": waiting.of.label(&waiting.name),
        "tool": tool,
        "kind": kind,
        "changes": changes,
    })
}

fn approved(question: &str) -> bool {
    if !std::io::stdin().is_terminal() {
        eprint_lines(&format!("{question}\nhint: add --yes to approve without being asked"));
        return false;
    }
    confirmed(question)
}
