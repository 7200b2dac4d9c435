//! Skills: saved code, its versions, and changes that wait for you.

use maud::{Markup, html};

use crate::frame::{Head, Place, csrf_field, page};
use crate::number::count;
use crate::parts::{Diff, Tone, badge, card, cell, diff, empty, listing, number, table};
use crate::{Frame, Moment, Text, routes};

#[derive(Clone, Debug)]
pub struct Skills {
    pub skills: Vec<SkillLine>,
}

#[derive(Clone, Debug)]
pub struct SkillLine {
    pub name: Text,
    pub description: Text,
    /// Whose it is: yours, a project's, a caller's.
    pub home: Text,
    pub state: SkillState,
    pub version: u64,
    pub saved: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillState {
    InUse,
    /// A change waits for your yes; the old version stays in use.
    ChangeWaits,
    /// Can't be imported until you approve it.
    Waits,
}

impl SkillState {
    fn badge(self) -> Markup {
        match self {
            SkillState::InUse => badge(Tone::Good, "in use"),
            SkillState::ChangeWaits => badge(Tone::Warn, "change to review"),
            SkillState::Waits => badge(Tone::Warn, "to review"),
        }
    }
}

/// One skill.
#[derive(Clone, Debug)]
pub struct Skill {
    pub line: SkillLine,
    pub code: Text,
    /// The latest first.
    pub versions: Vec<SkillVersion>,
    pub proposal: Option<Proposal>,
    /// Two versions that are compared.
    pub compared: Option<(u64, u64, Diff)>,
}

#[derive(Clone, Debug)]
pub struct SkillVersion {
    pub number: u64,
    pub saved: Moment,
    pub by: Text,
    pub execution: Option<Text>,
}

/// A change that somebody wants.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Names exactly this change; sent back as `change`.
    pub id: Text,
    pub by: Text,
    pub asked: Moment,
    pub diff: Diff,
}

pub fn skills(frame: &Frame, view: &Skills) -> Markup {
    let head = Head {
        lead: html! { "Code that agents saved, to be imported by later programs." },
        ..Head::of(Place::Skills)
    };
    let columns = [cell("Skill"), cell("State"), cell("Home"), number("Version"), cell("Saved")];
    let body = html! {
        @if view.skills.is_empty() {
            (empty("No skills yet", &html! { "Agents save what works with " code { "save_skill" }
                "; you can too, with " code { "gristmill skills add" } "." }))
        } @else {
            section.card { (table("Skills", &columns, view.skills.iter().map(|line| row(frame, line)))) }
        }
    };
    page(frame, &head, &body)
}

fn row(frame: &Frame, line: &SkillLine) -> Vec<Markup> {
    vec![
        html! {
            a.strong href=(routes::fill(routes::SKILL, &[line.name.raw()])) { (line.name) }
            br; span.small { (line.description) }
        },
        line.state.badge(),
        html! { (line.home) },
        html! { (count(line.version)) },
        line.saved.relative(frame.now),
    ]
}

pub fn skill(frame: &Frame, view: &Skill) -> Markup {
    let line = &view.line;
    let head = Head {
        title: Some(&line.name),
        lead: html! {
            (line.state.badge()) " version " (count(line.version)) " · " (line.home)
        },
        ..Head::of(Place::Skills)
    };
    let body = html! {
        p.prose { (line.description) }
        @if let Some(proposal) = &view.proposal { (review(frame, line, proposal)) }
        (card("Code", &listing(&view.code, None)))
        @if let Some((from, to, changes)) = &view.compared {
            (card("Compared", &html! {
                p.note { "Version " (count(*from)) " to version " (count(*to)) }
                (diff(changes))
            }))
        }
        (card("Versions", &versions(frame, view)))
    };
    page(frame, &head, &body)
}

fn review(frame: &Frame, line: &SkillLine, proposal: &Proposal) -> Markup {
    html! {
        section.card.question {
            h2 { "A change waits for you" }
            p.note { (proposal.by) " · " (proposal.asked.relative(frame.now)) ". The old version stays in use until you approve." }
            (diff(&proposal.diff))
            form.buttons method="post" action=(routes::fill(routes::SKILL_REVIEW, &[line.name.raw()])) {
                (csrf_field(frame))
                input type="hidden" name="change" value=(proposal.id.raw());
                button.primary name="decision" value="approve" type="submit" { "Approve the change" }
                button.danger name="decision" value="reject" type="submit" { "Drop it" }
            }
        }
    }
}

fn versions(frame: &Frame, view: &Skill) -> Markup {
    let address = routes::fill(routes::SKILL, &[view.line.name.raw()]);
    let rows = view.versions.iter().map(|version| {
        let before = version.number.saturating_sub(1);
        let pair = [("from", &*before.to_string()), ("to", &*version.number.to_string())];
        let compare = routes::query(&address, &pair);
        vec![
            html! { (count(version.number)) },
            html! {
                (version.by)
                @if let Some(execution) = &version.execution {
                    " · " a href=(routes::fill(routes::EXECUTION, &[execution.raw()])) { "execution" }
                }
            },
            version.saved.relative(frame.now),
            html! { @if before > 0 { a href=(compare) { "Compare with " (before) } } @else { "the first" } },
        ]
    });
    table("Versions", &[number("Version"), cell("Saved by"), cell("When"), cell("Changes")], rows)
}
