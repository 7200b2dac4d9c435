//! Planned: what becomes of a write, beside what the policy says. In a dry run it is held; where a plan is
//! carried out it must be one of the plan's; a program that may only read makes none; otherwise it is the policy's
//! alone.

use gristmill_domain::catalogue::canonical_json;
use gristmill_domain::policy::{Decided, Hints};
use gristmill_domain::{Code, ToolAnswer, Transport, counted, json_closeness, json_difference, one_line};
use serde_json::{Value, json};

use super::check::{Checked, Outgoing};
use crate::ports::{Claim, HeldWrites, NotPlanned, RefusedWrites, ToolFailure, Write, Writes};

/// What a request is in its execution's plan.
pub(super) enum Planned<'a> {
    /// Nothing: it is a read, or there is no plan.
    No,
    /// A write of a dry run: it goes no further than the policy.
    Hold(&'a HeldWrites),
    /// A write that a person approved: nobody is asked again.
    Approved(Claim),
}

/// Looks a request up in its execution's plan. Reads are not in it.
pub(super) fn planned(checked: &Checked, is_read: bool) -> Result<Planned<'_>, ToolFailure> {
    let Outgoing::Tool { definition, writes, .. } = &checked.outgoing else { return Ok(Planned::No) };
    let server = checked.server.name();
    let plan = match writes {
        Writes::Sent => return Ok(Planned::No),
        Writes::Held(_) if is_read => return Ok(Planned::No),
        Writes::Held(held) => return Ok(Planned::Hold(held)),
        // A request to a host carries out whatever is in its URL, whatever its method is called.
        Writes::Refused(_) if is_read && !is_web(checked) => return Ok(Planned::No),
        Writes::Refused(refused) => {
            let name = one_line(&format!("{server}.{}", definition.name), 200);
            return if refused.permits(&name) { Ok(Planned::No) } else { Err(only_reads(name, refused)) };
        }
        // What was a write when it was approved is none the less one now.
        Writes::Planned(plan) if is_read && !plan.names(server, &definition.name) => return Ok(Planned::No),
        Writes::Planned(plan) => plan,
    };
    let arguments = canonical(checked.shown());
    let now: Value = serde_json::from_str(&arguments).unwrap_or_default();
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let closeness = |before: &str| json_closeness(&read(before), &now);
    let hash = definition.hash.to_hex();
    let claimed = plan.claim((server, &definition.name, &hash), &arguments, closeness);
    claimed.map(Planned::Approved).map_err(|why| {
        let what = one_line(&format!("{server}.{}", definition.name), 200);
        let differs = match why {
            NotPlanned::NoSuchTool => "the plan has no call of this tool".to_owned(),
            NotPlanned::Changed => "its server defines this tool otherwise than when it was approved".to_owned(),
            NotPlanned::MadeAlready(times) => {
                format!("the plan has it {} with these arguments, and no more", counted(times, "time"))
            }
            NotPlanned::OtherArguments(nearest) => json_difference(&read(&nearest.arguments), &now),
        };
        let message = format!(
            "{what} isn't in the approved plan `{}`, so it wasn't sent: {differs}. Only the plan's calls can be made; \
             tell the user what differs, and make a new plan with another dry run",
            plan.id()
        );
        ToolFailure::Refused { code: Code::PlanDiffers, message }
    })
}

fn is_web(checked: &Checked) -> bool {
    matches!(checked.server.settings.transport, Transport::Hosts(_))
}

/// What a program reads that was let run because it only reads, and wants to write.
fn only_reads(what: String, refused: &RefusedWrites) -> ToolFailure {
    let message = format!(
        "{what} wasn't sent: it isn't a tool that its server marks as read-only, and the user hasn't said yes to it"
    );
    refused.refuse(what);
    ToolFailure::Refused { code: Code::OnlyReads, message }
}

/// Notes a write that would have been sent, and gives what the program reads in place of its answer.
pub(super) fn hold(checked: &Checked, held: &HeldWrites, decided: &Decided) -> ToolAnswer {
    checked.watcher.held();
    if let Outgoing::Tool { definition, .. } = &checked.outgoing {
        held.hold(Write {
            server: checked.server.name().to_owned(),
            tool: definition.name.clone(),
            arguments: canonical(checked.shown()),
            decision: decided.decision.as_str().to_owned(),
            effect: effect(Hints::of(definition)),
            definition: definition.hash.to_hex(),
        });
    }
    let words = "not sent: this is a dry run, and a held call has no answer";
    ToolAnswer { json: json!({"dry_run": words}).to_string(), files: Vec::new() }
}

/// What a tool does, as far as its server says.
fn effect(hints: Hints) -> String {
    let kind = match hints {
        Hints { destructive: Some(true), .. } => "destructive",
        Hints { destructive: Some(false), .. } => "changes something, but isn't destructive",
        Hints { read_only: Some(false), .. } => "changes something",
        Hints { .. } => "not marked read-only",
    };
    match hints.idempotent {
        Some(true) => format!("{kind}, idempotent"),
        Some(false) | None => kind.to_owned(),
    }
}

/// The same for the same arguments, in whichever order they were written.
fn canonical(arguments: &str) -> String {
    serde_json::from_str(arguments)
        .map_or_else(|_| arguments.to_owned(), |value: Value| canonical_json(&value))
}
