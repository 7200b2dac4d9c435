//! `skills list`, `show` and `history`: what there is.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use gristmill_gateway::domain::skills::{SkillFiles, usage_line};
use gristmill_gateway::domain::utc_text;
use gristmill_gateway::skills::{ListQuery, Skill, SkillError, Standing, listed};
use gristmill_gateway::upstream::{Refresh, Snapshot};
use serde_json::{Value, json};

use super::{Outcome, Place, failure};
use crate::terminal::{Printable, one_line, tell_beside};

pub async fn list(place: &Place, query: &str, tags: Vec<String>, json: bool) -> Outcome {
    let mut view = place.skills.look_again().await;
    if view.usable().any(|skill| skill.known_facts.is_none()) {
        // Edited by hand: its code is read first, to say how it is used.
        let gateway = place.gateway().await?;
        view = place.skills.look_closely().await;
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
    let fitting = listed(&view, &wanted, lookup);
    let others: Vec<&Skill> = match query.is_empty() && wanted.tags.is_empty() {
        true => view.all().iter().filter(|skill| skill.standing != Standing::Usable).collect(),
        false => Vec::new(),
    };
    if json {
        let mut values = fitting.values();
        values.iter_mut().for_each(|value| value["state"] = json!("usable"));
        values.extend(others.iter().map(|skill| {
            json!({"name": skill.name.as_str(), "description": skill.description(), "state": state(skill), "place": skill.place.as_str()})
        }));
        println!("{:#}", Value::from(values));
        return Ok(ExitCode::SUCCESS);
    }
    for entry in fitting.entries() {
        println!("{}", Printable::all(&entry));
    }
    for skill in &others {
        println!("{} ({}): {}", skill.name, state(skill), Printable::all(&skill.description()));
    }
    for problem in view.problems() {
        let name = if problem.name.is_empty() { String::new() } else { format!("{}: ", problem.name) };
        tell_beside(&format!("warning: {name}{}", one_line(&problem.why)));
    }
    if view.all().is_empty() {
        tell_beside(
            "there are no skills\nhint: `gristmill skills add FILE` saves one, and so does save_skill in a program",
        );
    } else if others.iter().any(|skill| skill.standing == Standing::Waiting) {
        tell_beside(
            "hint: look at them with `gristmill skills show NAME`, then `gristmill skills approve NAME`",
        );
    } else if fitting.counts().1 == 0 && others.is_empty() {
        tell_beside("nothing fits\nhint: `gristmill skills list` shows all");
    }
    Ok(ExitCode::SUCCESS)
}

fn state(skill: &Skill) -> &'static str {
    match skill.standing {
        Standing::Usable => "usable",
        Standing::Waiting => "waiting for approval",
        Standing::Hidden => "hidden by the project's",
    }
}

pub async fn show(place: &Place, name: &str, version: Option<i64>, json: bool) -> Outcome {
    let view = place.skills.look_again().await;
    if let Some(version) = version {
        let history = place.skills.history(name).await.map_err(failure)?;
        let known = history.into_iter().find(|known| known.version == version && !known.hash.is_empty());
        let known = known.ok_or_else(|| failure(SkillError::NoVersion { name: one_line(name), version }))?;
        return print_files(&known.files, json!({"name": known.name, "version": known.version}), json);
    }
    let Some(skill) = view.find(name) else {
        return Err(failure(SkillError::Unknown { name: one_line(name), nearest: view.nearest(name) }));
    };
    let about = json!({
        "name": skill.name.as_str(),
        "version": skill.version,
        "place": skill.place.as_str(),
        "state": state(skill),
        "use": usage_line(skill.name.as_str(), &skill.facts()),
    });
    print_files(&skill.files, about, json)?;
    if skill.standing == Standing::Waiting {
        tell_beside(&format!(
            "it is a project's and waits: nothing of it can be imported\nhint: `gristmill skills approve {}` says yes to these files",
            skill.name
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The description first, then every other file.
fn print_files(files: &SkillFiles, mut about: Value, json: bool) -> Outcome {
    if json {
        about["files"] = files.iter().map(|(name, text)| (name.to_owned(), json!(text))).collect();
        println!("{about:#}");
        return Ok(ExitCode::SUCCESS);
    }
    for (name, text) in files.iter() {
        println!("==> {name} <==\n{}\n", Printable::all(text.trim_end()));
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn history(place: &Place, name: &str, json: bool) -> Outcome {
    let history = place.skills.history(name).await.map_err(failure)?;
    if json {
        let rows = history.iter().map(|known| {
            json!({"version": known.version, "saved": when(known.saved_ms), "how": known.how.as_str(), "by": known.saved_by, "hash": known.hash})
        });
        println!("{:#}", Value::from_iter(rows));
        return Ok(ExitCode::SUCCESS);
    }
    for known in &history {
        let how = known.how.told(&one_line(&known.saved_by));
        println!("{:>4}  {}  {how}", known.version, when(known.saved_ms));
    }
    if history.is_empty() {
        tell_beside("it has no history yet: it waits for approval");
    }
    // A deletion has no files to bring back.
    if let Some(before) = history.iter().skip(1).find(|known| !known.hash.is_empty()) {
        tell_beside(&format!(
            "hint: `gristmill skills rollback {} {}` brings that one back",
            one_line(name),
            before.version
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn when(unix_ms: i64) -> String {
    let since = Duration::from_millis(u64::try_from(unix_ms).unwrap_or(0));
    utc_text(SystemTime::UNIX_EPOCH + since)
}
