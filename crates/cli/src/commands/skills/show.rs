//! `skills list`, `show` and `history`.

use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::checks::Guardrails;
use gristmill_gateway::domain::catalogue::fold;
use gristmill_gateway::domain::skills::{SkillFiles, usage_line};
use gristmill_gateway::domain::{utc_text, visible};
use gristmill_gateway::skills::{HeldChange, ListQuery, Skill, SkillError, SkillPlace, Standing, listed};
use gristmill_gateway::store::SkillProposal;
use gristmill_gateway::upstream::{NoTools, Refresh, ServerState, Snapshot};
use gristmill_gateway::{check_program, engine_of_skill};
use serde_json::{Value, json};

use super::{Outcome, Place, failure};
use crate::failure::Failure;
use crate::hints::hint;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::table::{Column, Table};
use crate::terminal::{Printable, eprint_lines, one_line, print_json};

pub async fn list(place: &Place, query: &str, tags: Vec<String>, json: bool) -> Outcome {
    let mut view = place.skills.look_again().await;
    if view.usable().any(|skill| skill.known_facts.is_none()) {
        // Edited by hand: its code is read first, to say how it is used.
        let gateway = place.gateway().await?;
        view = place.checked(&gateway).look_closely().await;
        gateway.shutdown().await;
    }
    // What is known of the servers is enough: none is started.
    let usable = place.configured.usable();
    let upstreams = match usable.is_empty() {
        true => None,
        false => Some(place.configured.connect(&usable, Refresh::Never)?),
    };
    let snapshot = upstreams.as_ref().map(|upstreams| upstreams.snapshot());
    let lookup = snapshot.as_deref().map(Snapshot::lookup);
    let wanted = ListQuery { query: query.to_owned(), tags, ..ListQuery::default() };
    let unchecked = upstreams.iter().flat_map(|upstreams| upstreams.statuses());
    let unchecked = unchecked.filter(|status| status.state == ServerState::Starting);
    let unchecked: Vec<String> = unchecked.map(|status| status.name).collect();
    let fitting = listed(&view, &wanted, lookup).with_unchecked(unchecked);
    let others: Vec<&Skill> = match query.is_empty() && wanted.tags.is_empty() {
        true => view.all().iter().filter(|skill| skill.standing != Standing::Usable).collect(),
        false => Vec::new(),
    };
    let held = place.skills.held().await.map_err(failure)?;
    if json {
        let mut values = fitting.values();
        values.iter_mut().for_each(|value| {
            value["state"] = json!("usable");
            let changes = held.iter().filter(|change| value["name"] == change.name.as_str());
            let changes: Vec<Value> = changes.map(change_json).collect();
            if !changes.is_empty() {
                value["waiting_changes"] = Value::from(changes);
            }
        });
        values.extend(others.iter().map(|skill| {
            json!({"name": skill.name.as_str(), "description": skill.description(), "language": skill.language, "state": state(skill), "place": skill.place.as_str()})
        }));
        print_json(&Value::from(values));
        return Ok(ExitCode::SUCCESS);
    }
    for entry in fitting.entries() {
        println!("{}", Printable::all(&entry));
    }
    for skill in &others {
        println!("{} ({}): {}", skill.name, state_text(skill), Printable::all(&skill.description()));
    }
    for change in &held {
        eprint_lines(&format!("note: needs approval: {}", told(change)));
    }
    for problem in view.problems() {
        let name = if problem.name.is_empty() { String::new() } else { format!("{}: ", problem.name) };
        eprint_lines(&format!("warning: {name}{}", one_line(&problem.why)));
    }
    if view.all().is_empty() {
        eprint_lines("No skills.");
        hint("`gristmill skills add FILE` adds one; programs add them with save_skill");
    } else if !held.is_empty() || others.iter().any(|skill| skill.standing == Standing::Waiting) {
        eprint_lines("note: `gristmill skills approve NAME` shows a skill and asks for your approval");
    } else if fitting.counts().1 == 0 && others.is_empty() {
        eprint_lines("No matching skills.");
        hint("`gristmill skills list` shows all");
    }
    let is_filtered = !query.is_empty() || !wanted.tags.is_empty();
    if is_filtered && view.waiting().next().is_some() {
        // Their words are not searched: nobody has said yes to them.
        let names: Vec<&str> = view.waiting().map(|skill| skill.name.as_str()).collect();
        eprint_lines(&format!("note: these need approval and are not searched: {}", names.join(", ")));
    }
    Ok(ExitCode::SUCCESS)
}

/// What waits and where it came from.
pub fn told(change: &HeldChange) -> String {
    let SkillProposal { how, origin, .. } = &change.proposal;
    let whose = match change.place {
        SkillPlace::User => "",
        SkillPlace::Project => " of this project",
    };
    format!("{}{whose}, {}", change.name, Printable::all(&how.told(&origin.told())))
}

/// A change that waits, as `--json` has it.
fn change_json(change: &HeldChange) -> Value {
    let SkillProposal { how, origin, proposed_ms, hash, .. } = &change.proposal;
    json!({"how": how.as_str(), "origin": origin, "saved": when(*proposed_ms), "hash": hash})
}

/// As `--json` has it.
fn state(skill: &Skill) -> &'static str {
    match skill.standing {
        Standing::Usable => "usable",
        Standing::Waiting => "waiting for approval",
        Standing::Hidden => "hidden by the project's",
    }
}

/// As people read it.
fn state_text(skill: &Skill) -> &'static str {
    match skill.standing {
        Standing::Usable => "usable",
        Standing::Waiting => "needs approval",
        Standing::Hidden => "overridden by the project's",
    }
}

pub async fn show_version(place: &Place, name: &str, version: i64, json: bool) -> Outcome {
    let known = place.skills.version(name, version).await.map_err(failure)?;
    match json {
        true => {
            let about = json!({"name": known.name, "version": known.version});
            print_json(&with_files(about, &known.files));
        }
        false => print_files(&known.files),
    }
    Ok(ExitCode::SUCCESS)
}

/// All of that name: what a project has must not hide behind what the user has.
pub async fn show(place: &Place, name: &str, only_project: bool, json: bool) -> Outcome {
    let view = place.skills.look_again().await;
    let mut named = view.named(name);
    named.retain(|skill| !only_project || skill.place == SkillPlace::Project);
    if only_project && named.is_empty() && view.find(name).is_some() {
        return Err(Failure::Usage(anyhow!("the project has no skill `{}`, but you do", one_line(name))));
    }
    let Some((first, others)) = named.split_first() else {
        return Err(failure(SkillError::Unknown { name: one_line(name), nearest: view.nearest(name) }));
    };
    if json {
        let mut shown = as_json(first);
        if !others.is_empty() {
            shown["others"] = others.iter().map(|skill| as_json(skill)).collect();
        }
        print_json(&shown);
    } else {
        for skill in &named {
            if !others.is_empty() {
                println!("=== {} ({}, {}) ===\n", skill.name, skill.place.as_str(), state_text(skill));
            }
            print_files(&skill.files);
        }
    }
    named.iter().for_each(|skill| tell_findings(skill, &place.configured.config.guardrails.settings));
    if let Some(skill) = named.iter().find(|skill| skill.standing == Standing::Waiting) {
        eprint_lines(&format!(
            "note: the project's skill isn't approved, so programs can't import it; `gristmill skills approve {}` approves it as shown",
            skill.name
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is suspicious in its code: a help for whoever approves it.
fn tell_findings(skill: &Skill, guardrails: &Guardrails) {
    let Ok(code) = skill.files.code(&skill.name) else { return };
    let file = SkillFiles::code_file(&skill.name, skill.language);
    for finding in check_program(engine_of_skill(skill.language), code, &NoTools, guardrails).findings {
        eprint_lines(&format!(
            "warning: {file}:{}: {} {}: {}",
            finding.line, finding.rule, finding.severity, finding.message
        ));
    }
}

fn as_json(skill: &Skill) -> Value {
    let about = json!({
        "name": skill.name.as_str(),
        "version": skill.version,
        "language": skill.language,
        "place": skill.place.as_str(),
        "state": state(skill),
        "use": usage_line(skill.name.as_str(), &skill.facts()),
    });
    with_files(about, &skill.files)
}

fn with_files(mut about: Value, files: &SkillFiles) -> Value {
    about["files"] = files.iter().map(|(name, text)| (name.to_owned(), json!(text))).collect();
    about
}

/// The description first, then every other file.
pub fn print_files(files: &SkillFiles) {
    for (name, text) in files.iter() {
        println!("==> {name} <==\n{}\n", every_character(text.trim_end()));
    }
}

/// A text of several lines in which nothing is hidden from whoever approves it.
pub fn every_character(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(visible).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

pub async fn history(place: &Place, name: &str, times: TimeArguments, json: bool) -> Outcome {
    let history = place.skills.history(name).await.map_err(failure)?;
    let mut held = place.skills.held().await.map_err(failure)?;
    held.retain(|change| change.name.folded() == fold(name));
    if json {
        let waiting = held.iter().map(|change| {
            let mut row = change_json(change);
            (row["version"], row["state"]) = (Value::Null, json!("waiting for approval"));
            row
        });
        let rows = history.iter().map(|known| {
            json!({"version": known.version, "saved": when(known.saved_ms), "how": known.how.as_str(), "by": known.saved_by, "origin": known.origin, "hash": known.hash})
        });
        print_json(&Value::from_iter(waiting.chain(rows)));
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([Column::right("VERSION"), Column::left("SAVED"), Column::wrapping("HOW")]);
    for change in &held {
        let how = change.proposal.how.told(&change.proposal.origin.told());
        let how = format!("needs approval: {}", Printable::all(&how));
        table.row(["-".to_owned(), times.minute(from_unix_ms(change.proposal.proposed_ms)), how]);
    }
    for known in &history {
        let how = Printable::all(&known.told()).to_string();
        table.row([known.version.to_string(), times.minute(from_unix_ms(known.saved_ms)), how]);
    }
    if history.is_empty() && held.is_empty() {
        eprint_lines("No versions yet: it needs approval.");
    } else {
        table.print();
    }
    if !held.is_empty() {
        hint(&format!("`gristmill skills approve {}` shows what would change", one_line(name)));
        return Ok(ExitCode::SUCCESS);
    }
    // A deletion has no files to bring back.
    if let Some(before) = history.iter().skip(1).find(|known| !known.hash.is_empty()) {
        hint(&format!("`gristmill skills rollback {} {}` restores it", one_line(name), before.version));
    }
    Ok(ExitCode::SUCCESS)
}

fn when(unix_ms: i64) -> String {
    utc_text(from_unix_ms(unix_ms))
}
