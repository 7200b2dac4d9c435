//! `gristmill audit verify`: whether the chain is whole.

use std::process::ExitCode;

use gristmill_gateway::audit::{Audit, Fault, Verification};
use gristmill_gateway::domain::{counted_grouped, grouped};
use serde_json::{Value, json};

use super::Outcome;
use crate::data_store;
use crate::spinner::Spinner;
use crate::terminal::{eprint_lines, one_line, print_json, print_lines};

pub async fn verify(audit: &Audit, as_json: bool) -> Outcome {
    let spinner = Spinner::start("reading the audit …");
    let found = audit.verify().await;
    drop(spinner);
    let found = found.map_err(data_store::failure)?;
    match as_json {
        true => print_json(&as_value(&found)),
        false => print(&found),
    }
    Ok(if found.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn print(found: &Verification) {
    for fault in &found.faults {
        print_lines(&fault_text(fault));
    }
    let signed = match &found.signed_at {
        Some(at) => {
            let times = match found.checkpoints {
                1 => "once".to_owned(),
                count => format!("{} times", grouped(count)),
            };
            format!("signed {times}, last at {at} (key {})", found.key)
        }
        None => "not signed yet".to_owned(),
    };
    let events = counted_grouped(usize::try_from(found.events).unwrap_or(usize::MAX), "event");
    let range =
        if found.events == 0 { String::new() } else { format!(" ({} to {})", found.first, found.last) };
    match found.is_whole() {
        true => print_lines(&format!("the audit is whole: {events}{range}, {signed}")),
        false => print_lines(&format!("the audit is NOT whole: {events}{range}, {signed}")),
    }
    if found.unsigned > 0 {
        eprint_lines(&format!(
            "note: the last {} linked but not signed yet",
            match found.unsigned {
                1 => "event is".to_owned(),
                count => format!("{} events are", grouped(count)),
            }
        ));
    }
    if !found.is_whole() {
        eprint_lines(
            "hint: keep a copy of the data folder as it is, and compare with a backup or with what you exported",
        );
    }
}

fn fault_text(fault: &Fault) -> String {
    let at = fault.at.as_deref().map(|at| format!(" ({})", one_line(at))).unwrap_or_default();
    format!("event {}{at}: {}", fault.number, fault.what)
}

fn as_value(found: &Verification) -> Value {
    let faults = found
        .faults
        .iter()
        .map(|fault| json!({ "number": fault.number, "at": fault.at, "what": fault.what }));
    json!({
        "whole": found.is_whole(),
        "events": found.events,
        "first": found.first,
        "last": found.last,
        "unsigned": found.unsigned,
        "checkpoints": found.checkpoints,
        "signed_at": found.signed_at,
        "key": found.key,
        "faults": faults.collect::<Vec<_>>(),
    })
}
