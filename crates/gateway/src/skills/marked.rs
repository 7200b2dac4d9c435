//! Skills that were saved after reading marked data: whoever imports one has read that data.
//!
//! Programs import files without asking us. So a marked skill lies in the tree of a program only if that
//! names it, or its caller has read the same marks before; others are not there, and are not listed. The same
//! goes for the test of a skill, in the name of whoever saves that: what the test says comes back to them.

use std::collections::HashSet;
use std::sync::Arc;

use gristmill_domain::catalogue::fold;
use gristmill_domain::policy::Seen;

use super::skill::Skill;
use super::view::{FrozenSkills, SkillsView};
use super::{Skills, in_background};
use crate::ids::{Caller, Client, ExecutionId, Owner, SessionId};
use crate::store::{SkillOrigin, SkillVersion};

/// Whoever imports or loads a skill writes this.
const IMPORTED_AS: &str = "skill";

/// With the marks of the version before: files of it may be in the new one. A person's version has none.
pub(super) fn inheriting(origin: SkillOrigin, latest: Option<&SkillVersion>) -> SkillOrigin {
    match latest.and_then(|latest| latest.origin.as_ref()) {
        Some(before) => origin.with_seen(&before.seen()),
        None => origin,
    }
}

impl Skills {
    /// With what an agent has read until now.
    pub(super) async fn marked(&self, origin: SkillOrigin) -> SkillOrigin {
        let (Some(ledger), SkillOrigin::Agent { owner, client, session, execution, .. }) =
            (&self.inner.marks, &origin)
        else {
            return origin;
        };
        let client = client.clone().map(|name| Client { name, version: String::new() });
        let caller = Caller {
            client,
            session: session.as_deref().and_then(SessionId::read),
            execution: execution.as_deref().and_then(ExecutionId::read),
            ..Caller::of(Owner(owner.clone()))
        };
        let seen = ledger.seen(&caller).await;
        origin.with_seen(&seen)
    }

    /// What a program that begins now finds; its caller has read what the skills were made from that it
    /// names.
    pub(crate) async fn freeze_for(&self, caller: &Caller, code: &str) -> FrozenSkills {
        let Some(ledger) = &self.inner.marks else { return self.freeze().await };
        let view = self.look().await;
        if view.usable().all(|skill| skill.seen.is_empty()) {
            return self.freeze().await;
        }
        ledger.note(caller, &read_by(&view, vec![code])).await;
        let seen = ledger.seen(caller).await;
        if view.usable().all(|skill| seen.covers(&skill.seen)) {
            return self.freeze().await;
        }
        let (trees, view) = (Arc::clone(&self.inner.trees), Arc::new(view.for_reader_of(&seen)));
        let shown = Arc::clone(&view);
        let lease = in_background(move || trees.lease(shown.version(), || shown.tree()).ok());
        let tree = lease.await.flatten().map(Arc::new);
        FrozenSkills { view, tree }
    }

    /// What a test finds beside the skill that it tests, and what whoever has it run has read. What it says
    /// comes back to them, so they have read what the skills were made from that its sources name; noted
    /// before it runs.
    pub(super) async fn found_by_test(
        &self,
        view: &Arc<SkillsView>,
        caller: &Caller,
        sources: Vec<&str>,
    ) -> (Arc<SkillsView>, Seen) {
        let Some(ledger) = &self.inner.marks else { return (Arc::clone(view), Seen::default()) };
        if view.usable().all(|skill| skill.seen.is_empty()) {
            return (Arc::clone(view), Seen::default());
        }
        ledger.note(caller, &read_by(view, sources)).await;
        let seen = ledger.seen(caller).await;
        (Arc::new(view.for_reader_of(&seen)), seen)
    }

    /// What a program finds now that has changed skills itself.
    pub(crate) async fn view_for(&self, caller: &Caller) -> Arc<SkillsView> {
        self.shown_to(caller, self.look().await).await
    }

    /// The same as [`Skills::look_closely`], for a reader: without what was made from marked data that they
    /// have not read.
    pub async fn look_closely_for(&self, reader: &Caller) -> Arc<SkillsView> {
        self.shown_to(reader, self.look_closely().await).await
    }

    async fn shown_to(&self, reader: &Caller, view: Arc<SkillsView>) -> Arc<SkillsView> {
        let Some(ledger) = &self.inner.marks else { return view };
        if view.usable().all(|skill| skill.seen.is_empty()) {
            return view;
        }
        Arc::new(view.for_reader_of(&ledger.seen(reader).await))
    }

    /// Notes that somebody is handed a skill that was made from this. Done before they get it.
    pub async fn note_read(&self, reader: &Caller, seen: &Seen) {
        if let Some(ledger) = &self.inner.marks {
            ledger.note(reader, seen).await;
        }
    }
}

/// The marks of all skills that a program can import by what is written in its sources.
fn read_by<'a>(view: &'a SkillsView, mut sources: Vec<&'a str>) -> Seen {
    let (mut named, mut seen) = (HashSet::new(), Seen::default());
    while let Some(source) = sources.pop() {
        let words = words(source);
        let is_named = |skill: &&Skill| words.contains(&skill.name.folded());
        for skill in view.usable().filter(is_named) {
            // What it imports in turn is imported as well.
            if named.insert(skill.name.as_str()) {
                seen.add(&skill.seen);
                sources.push(skill.code());
            }
        }
    }
    seen
}

/// The words of a source that imports skills, as names are compared.
fn words(source: &str) -> HashSet<String> {
    if !source.to_ascii_lowercase().contains(IMPORTED_AS) {
        return HashSet::new();
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    source.split(|c| !is_part(c)).filter(|word| !word.is_empty()).map(fold).collect()
}
