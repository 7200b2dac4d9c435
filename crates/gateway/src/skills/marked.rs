//! Skills that were saved after reading marked data: whoever imports one has read that data.
//!
//! Programs import files without asking us. So a marked skill lies in the tree of a program only if that
//! names it, or its caller has read the same marks before; others are not there, and are not listed.

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
        ledger.note(caller, &read_by(&view, code)).await;
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

    /// What a program finds now that has changed skills itself.
    pub(crate) async fn view_for(&self, caller: &Caller) -> Arc<SkillsView> {
        let view = self.look().await;
        let Some(ledger) = &self.inner.marks else { return view };
        if view.usable().all(|skill| skill.seen.is_empty()) {
            return view;
        }
        Arc::new(view.for_reader_of(&ledger.seen(caller).await))
    }

    /// Notes that a program loads a skill while it runs.
    pub(super) async fn note_load(&self, caller: &Caller, skill: &Skill) {
        if let Some(ledger) = &self.inner.marks {
            ledger.note(caller, &skill.seen).await;
        }
    }
}

/// The marks of all skills that a program can import by what is written in it.
fn read_by(view: &SkillsView, code: &str) -> Seen {
    let (mut named, mut seen) = (HashSet::new(), Seen::default());
    let mut sources = vec![code];
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
