//! `skills approve`: approves a project's skills, after showing exactly what they are.

use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::domain::skills::{SkillFiles, line_diff};
use gristmill_gateway::skills::WaitingSkill;

use super::show::{every_character, print_files};
use super::{Outcome, Place, failure};
use crate::exit_codes;
use crate::failure::Failure;
use crate::terminal::{confirmed, eprint_lines};

pub async fn approve(place: &Place, names: Vec<String>, all: bool, yes: bool) -> Outcome {
    let waiting: Vec<String> =
        place.skills.look_again().await.waiting().map(|skill| skill.name.to_string()).collect();
    let names = match (all, names.is_empty()) {
        (false, false) => names,
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
        let waiting = place.skills.waiting(&name).await.map_err(failure)?;
        print_waiting(&waiting);
        let name = &waiting.skill.name;
        if !yes && !confirmed(&format!("Approve {name} as shown?")) {
            eprint_lines(&format!("{name} not approved"));
            is_left = true;
            continue;
        }
        // Exactly what was shown: what has changed meanwhile is refused.
        place.skills.approve(&waiting.skill).await.map_err(failure)?;
        println!("approved {name}");
    }
    if is_left {
        eprint_lines("hint: --yes approves everything that is shown");
        return Ok(exit_codes::usage());
    }
    Ok(ExitCode::SUCCESS)
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
