//! `skills approve` and `reject`: a project's skills and what agents would change, shown exactly.

use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::domain::catalogue::fold;
use gristmill_gateway::domain::skills::{SkillFiles, line_diff};
use gristmill_gateway::skills::{HandOver, HeldChange, Standing, WaitingSkill};
use gristmill_gateway::store::SavedHow;

use super::show::{every_character, print_files, told};
use super::{Outcome, Place, failure};
use crate::exit_codes;
use crate::failure::Failure;
use crate::hints::hint;
use crate::terminal::{confirmed, eprint_lines, one_line};

/// What is to be approved.
pub struct Approve {
    pub names: Vec<String>,
    pub all: bool,
    pub hand_over: HandOver,
    pub yes: bool,
}

pub async fn approve(place: &Place, wanted: Approve) -> Outcome {
    let view = place.skills.look_again().await;
    let held = place.skills.held().await.map_err(failure)?;
    let mut waiting: Vec<String> = view.waiting().map(|skill| skill.name.to_string()).collect();
    waiting.extend(held.iter().map(|change| change.name.to_string()));
    waiting.sort();
    waiting.dedup();
    let names = match (wanted.all, wanted.names.is_empty()) {
        (false, false) => wanted.names.clone(),
        (_, _) if waiting.is_empty() => {
            eprint_lines("Nothing needs approval.");
            return Ok(ExitCode::SUCCESS);
        }
        (true, _) => waiting,
        (false, true) => {
            return Err(Failure::Usage(anyhow!(
                "choose skills to approve: {}\nhint: `gristmill skills approve NAME`, or --all; each is shown first",
                waiting.join(", ")
            )));
        }
    };
    let mut is_left = false;
    for name in names {
        let changes = changes_of(place, &name).await?;
        for change in &changes {
            is_left |= !approve_change(place, change, &wanted).await?;
        }
        let is_waiting = view.named(&name).iter().any(|skill| skill.standing == Standing::Waiting);
        if is_waiting || changes.is_empty() {
            is_left |= !approve_projects(place, &name, wanted.yes).await?;
        }
    }
    if is_left {
        eprint_lines("hint: --yes approves everything that is shown");
        return Ok(exit_codes::usage());
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn reject(place: &Place, name: &str) -> Outcome {
    let changes = changes_of(place, name).await?;
    if changes.is_empty() {
        let name = one_line(name);
        return Err(Failure::Usage(anyhow!(
            "no change to `{name}` waits; `gristmill skills list` shows what does"
        )));
    }
    for change in &changes {
        place.skills.reject_held(change).await.map_err(failure)?;
        println!("rejected: {}", told(change));
    }
    Ok(ExitCode::SUCCESS)
}

/// Those that wait now, each against what is in use now: an earlier yes may have changed that.
async fn changes_of(place: &Place, name: &str) -> Result<Vec<HeldChange>, Failure> {
    let mut held = place.skills.held().await.map_err(failure)?;
    held.retain(|change| change.name.folded() == fold(name));
    Ok(held)
}

/// Shows a project's skill and asks. Whether it was approved.
async fn approve_projects(place: &Place, name: &str, yes: bool) -> Result<bool, Failure> {
    let waiting = place.skills.waiting(name).await.map_err(failure)?;
    print_waiting(&waiting);
    let name = &waiting.skill.name;
    if !yes && !confirmed(&format!("Approve {name} as shown?")) {
        eprint_lines(&format!("{name} not approved"));
        return Ok(false);
    }
    // Exactly what was shown: what has changed meanwhile is refused.
    place.skills.approve(&waiting.skill).await.map_err(failure)?;
    println!("approved {name}");
    Ok(true)
}

/// Shows a change and asks. Whether it was approved.
async fn approve_change(place: &Place, change: &HeldChange, wanted: &Approve) -> Result<bool, Failure> {
    // Again: of two changes the first may be in use by now.
    let now = changes_of(place, change.name.as_str()).await?;
    let Some(change) = now.into_iter().find(|now| now.proposal == change.proposal) else { return Ok(true) };
    let name = &change.name;
    println!("{}:\n", told(&change));
    match (&change.proposal.how, &change.current) {
        (SavedHow::Deleted, _) => {}
        (SavedHow::Saved | SavedHow::Edited | SavedHow::RolledBack, None) => {
            print_files(&change.proposal.files)
        }
        (SavedHow::Saved | SavedHow::Edited | SavedHow::RolledBack, Some(current)) => {
            print_changes(current, &change.proposal.files);
        }
    }
    if !wanted.yes && !confirmed(&format!("Approve this change to {name}?")) {
        eprint_lines(&format!("{name} stays as it is"));
        hint(&format!("`gristmill skills reject {name}` drops the change"));
        return Ok(false);
    }
    let version = place.skills.approve_held(&change, wanted.hand_over).await.map_err(failure)?;
    println!("approved {name} (version {version})");
    Ok(true)
}

fn print_waiting(waiting: &WaitingSkill) {
    let name = &waiting.skill.name;
    match &waiting.before {
        None => {
            println!("{name} is new in this project:\n");
            print_files(&waiting.skill.files);
        }
        Some(before) => {
            println!("{name} has changed since you approved it:\n");
            print_changes(before, &waiting.skill.files);
        }
    }
}

fn print_changes(before: &SkillFiles, now: &SkillFiles) {
    for (file, text) in now.iter() {
        match before.get(file) {
            Some(old) if old == text => {}
            Some(old) => {
                let mut lines = line_diff(old, text);
                if lines.is_empty() {
                    lines.push("only the end of the last line changed".to_owned());
                }
                println!("==> {file} (changed) <==\n{}\n", every_character(&lines.join("\n")));
            }
            None => println!("==> {file} (new) <==\n{}\n", every_character(text.trim_end())),
        }
    }
    for (file, _) in before.iter().filter(|(file, _)| now.get(file).is_none()) {
        println!("==> {file} (deleted) <==\n");
    }
}
