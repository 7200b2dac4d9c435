//! Skills: their code and versions, and changes that wait for the owner.

use std::time::{Duration, Instant};

use axum::extract::Path;
use axum::response::Response;
use gristmill_dashboard::pages::{
    self, Proposal, Skill as View, SkillLine, SkillState, SkillVersion, Skills,
};
use gristmill_dashboard::parts::{Diff, DiffLine};
use gristmill_dashboard::{Moment, routes};
use gristmill_gateway::domain::skills::SkillFiles;
use gristmill_gateway::domain::text_diff::{DiffTag, differences, grouped};
use gristmill_gateway::skills::{HandOver, HeldChange, Skill, SkillPlace, Skills as Kept, Standing};
use http::StatusCode;

use super::notices::Done;
use super::visit::{Visit, done, owner_in_words};

/// Lines around a change.
const CONTEXT: usize = 3;

/// Files that have little in common are shown as removed and added after this long.
const COMPARED_FOR: Duration = Duration::from_millis(100);

pub(super) async fn skills(visit: Visit) -> Response {
    let Some(kept) = visit.parts().gateway.skills() else {
        return visit.not_kept("This gateway keeps no skills").await;
    };
    let (all, held) = (kept.look_again().await, kept.held().await.unwrap_or_default());
    let shown = all.all().iter().filter(|skill| skill.standing != Standing::Hidden);
    let skills = shown.map(|skill| line(skill, &held)).collect();
    visit.page(pages::skills, Skills { skills }).await
}

fn line(skill: &Skill, held: &[HeldChange]) -> SkillLine {
    let has_change = held.iter().any(|change| change.name == skill.name);
    SkillLine {
        name: skill.name.as_str().into(),
        description: skill.description().into(),
        home: home(skill.place).into(),
        state: match skill.standing {
            Standing::Waiting => SkillState::Waits,
            Standing::Usable | Standing::Hidden if has_change => SkillState::ChangeWaits,
            Standing::Usable | Standing::Hidden => SkillState::InUse,
        },
        version: u64::try_from(skill.version).unwrap_or_default(),
        saved: Moment(skill.saved_ms),
    }
}

fn home(place: SkillPlace) -> &'static str {
    match place {
        SkillPlace::User => "yours",
        SkillPlace::Project => "the project's",
    }
}

async fn no_such(visit: &Visit) -> Response {
    let next = "gristmill skills list shows what there is.";
    visit.problem(StatusCode::NOT_FOUND, "There's no skill of this name", next).await
}

pub(super) async fn skill(visit: Visit, Path(name): Path<String>) -> Response {
    let Some(kept) = visit.parts().gateway.skills() else { return no_such(&visit).await };
    let (all, held) = (kept.look_again().await, kept.held().await.unwrap_or_default());
    let named = all.named(&name);
    let Some(skill) = named.first() else { return no_such(&visit).await };
    let history = kept.history(&name).await.unwrap_or_default();
    let number = |name: &str| visit.query.filled(name)?.parse::<i64>().ok();
    let code_of = |version: i64| {
        let found = history.iter().find(|known| known.version == version)?;
        Some(text_of(Some(&found.files)))
    };
    let compared = match (number("from"), number("to")) {
        (Some(from), Some(to)) => code_of(from).zip(code_of(to)).map(|(old, new)| {
            let version = |number: i64| u64::try_from(number).unwrap_or_default();
            (version(from), version(to), diff(&old, &new))
        }),
        _ => None,
    };
    let view = View {
        line: line(skill, &held),
        code: skill.code().into(),
        versions: history
            .iter()
            .map(|known| SkillVersion {
                number: u64::try_from(known.version).unwrap_or_default(),
                saved: Moment(known.saved_ms),
                by: known.told().into(),
                execution: None,
            })
            .collect(),
        proposal: proposal(kept, skill, &held).await,
        compared,
    };
    visit.page(pages::skill, view).await
}

async fn proposal(kept: &Kept, skill: &Skill, held: &[HeldChange]) -> Option<Proposal> {
    if skill.standing == Standing::Waiting {
        let waiting = kept.waiting(skill.name.as_str()).await.ok()?;
        let diff = diff(&text_of(waiting.before.as_ref()), &text_of(Some(&waiting.skill.files)));
        let id = project_id(&waiting.skill).into();
        return Some(Proposal { id, by: "The project".into(), asked: Moment(skill.saved_ms), diff });
    }
    let change = held.iter().find(|change| change.name == skill.name)?;
    // Without a hash it is to be deleted.
    let proposed = Some(&change.proposal.files).filter(|_| !change.proposal.hash.is_empty());
    Some(Proposal {
        id: held_id(change).into(),
        by: owner_in_words(change.proposal.origin.holder().as_deref().unwrap_or("local")),
        asked: Moment(change.proposal.proposed_ms),
        diff: diff(&text_of(change.current.as_ref()), &text_of(proposed)),
    })
}

/// Names exactly what is shown: what changes meanwhile has another id.
fn project_id(skill: &Skill) -> String {
    format!("project-{}", skill.hash)
}

fn held_id(change: &HeldChange) -> String {
    let current = change.current.as_ref().map(SkillFiles::hash).unwrap_or_default();
    let shown = format!("{}\0{current}\0{}", change.proposal.hash, change.proposal.proposed_ms);
    format!("held-{}", blake3::hash(shown.as_bytes()).to_hex())
}

pub(super) async fn review(visit: Visit, Path(name): Path<String>) -> Response {
    let Some(kept) = visit.parts().gateway.skills() else { return no_such(&visit).await };
    let back = routes::fill(routes::SKILL, &[&name]);
    let id = visit.form.value("change").unwrap_or_default();
    let is_yes = visit.form.value("decision") == Some("approve");
    let held = kept.held().await.unwrap_or_default();
    if let Some(change) = held.iter().find(|change| held_id(change) == id) {
        let outcome = match is_yes {
            true => kept.approve_held(change, HandOver::No).await.map(drop),
            false => kept.reject_held(change).await,
        };
        return match outcome {
            Ok(()) if is_yes => done(&back, Done::Approved),
            Ok(()) => done(routes::SKILLS, Done::Dropped),
            Err(_) => done(&back, Done::ChangedMeanwhile),
        };
    }
    match kept.waiting(&name).await {
        Ok(waiting) if is_yes && project_id(&waiting.skill) == id => match kept.approve(&waiting.skill).await
        {
            Ok(()) => done(&back, Done::Approved),
            Err(_) => done(&back, Done::ChangedMeanwhile),
        },
        Ok(_) | Err(_) => done(&back, Done::ChangedMeanwhile),
    }
}

/// All of its files, one after the other.
fn text_of(files: Option<&SkillFiles>) -> String {
    let mut text = String::new();
    for (name, content) in files.into_iter().flat_map(SkillFiles::iter) {
        text.push_str(&format!("=== {name}\n{content}"));
        if !content.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

fn diff(old: &str, new: &str) -> Diff {
    // With their ends: one that is missing is a change.
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let text = |line: &&str| line.trim_end_matches('\n').into();
    let mut lines = Vec::new();
    for (at, group) in
        grouped(differences(&old, &new, Some(Instant::now() + COMPARED_FOR)), CONTEXT).into_iter().enumerate()
    {
        if at > 0 {
            lines.push(DiffLine::Gap("…".into()));
        }
        for part in group {
            if part.tag() == DiffTag::Equal {
                lines.extend(new[part.new_range()].iter().map(|line| DiffLine::Same(text(line))));
            } else {
                lines.extend(old[part.old_range()].iter().map(|line| DiffLine::Removed(text(line))));
                lines.extend(new[part.new_range()].iter().map(|line| DiffLine::Added(text(line))));
            }
        }
    }
    Diff { lines }
}
