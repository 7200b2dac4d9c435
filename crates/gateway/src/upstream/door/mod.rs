//! The door: whatever is sent to a server passes here, with whoever asks for it. Each stage takes what
//! the one before returns, so that none can be left out:
//!
//! `resolve` (which server, which of its things) → `web` (a URL, if its host is allowed) → `personal` (values for tokens) → `check` (arguments) → `policy` (whether this caller
//! may, or a person says so; `planned` is what an execution's plan says of it) → `admit` (a place among the calls under way) → `send` (a connection, the approval once more, the bytes) → `answer` (what came, as
//! the caller reads it, and `personal` once more: tokens for values). A `Passage` measures and records beside them.
//!
//! Walls: a connection is opened up only here and by those who list what a server offers.

mod admit;
mod answer;
mod check;
mod failure;
#[cfg(test)]
mod flow_tests;
#[cfg(test)]
mod guarded_tests;
#[cfg(test)]
mod learned_tests;
#[cfg(test)]
mod leaving_tests;
mod passage;
mod personal;
#[cfg(test)]
mod personal_tests;
mod planned;
#[cfg(test)]
mod planned_tests;
mod policy;
#[cfg(test)]
mod policy_tests;
mod request;
mod resolve;
mod screened;
mod send;
#[cfg(test)]
mod shown_tests;
#[cfg(test)]
mod tests;
mod web;
#[cfg(test)]
mod web_tests;

use std::sync::Arc;

use gristmill_domain::ToolAnswer;
use gristmill_domain::catalogue::ToolDefinition;
use gristmill_domain::policy::Decision;
use tracing::Instrument;

use super::guard::Guard;
use super::registry::Registry;
use super::seen::{Offered, Seen};
use super::snapshot::Snapshot;
use crate::ids::Caller;
use crate::learned::Learner;
use crate::ports::{CallObserver, ToolFailure};
use crate::privacy::Privacy;
use admit::admit;
use answer::answer;
use check::{Checked, Outgoing, check};
use passage::Passage;
use personal::{restore, shown_name};
use policy::{Permission, decision_about, denies_always, permit, seen};
use resolve::resolve;
use send::send;

pub use request::DoorRequest;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(super) struct Door {
    registry: Arc<Registry>,
    observer: Option<Arc<dyn CallObserver>>,
    guard: Option<Arc<Guard>>,
    privacy: Option<Privacy>,
    learner: Option<Learner>,
}

impl Door {
    pub(super) fn new(
        registry: Arc<Registry>,
        observer: Option<Arc<dyn CallObserver>>,
        guard: Option<Arc<Guard>>,
        privacy: Option<Privacy>,
        learner: Option<Learner>,
    ) -> Self {
        Self { registry, observer, guard, privacy, learner }
    }

    /// What becomes of personal data on the way.
    pub(super) fn privacy(&self) -> Option<&Privacy> {
        self.privacy.as_ref()
    }

    /// What the rules say of a caller's calls of a tool, whatever their arguments.
    pub(super) fn decision_about(&self, caller: &Caller, server: &str, tool: &ToolDefinition) -> Decision {
        decision_about(self.guard.as_deref(), caller, server, tool)
    }

    /// Whether a caller is denied something of a server, whatever is in its requests.
    pub(super) fn denies_always(&self, caller: &Caller, server: &str, offered: Offered<'_>) -> bool {
        denies_always(self.guard.as_deref(), caller, server, offered)
    }

    /// What of a snapshot a caller may ever use.
    pub(super) fn seen(&self, caller: &Caller, snapshot: &Snapshot) -> Seen {
        seen(self.guard.as_deref(), caller, snapshot)
    }

    /// Nothing more passes.
    pub(super) async fn close(&self) {
        if let Some(learner) = &self.learner {
            learner.close().await;
        }
        if let Some(guard) = &self.guard {
            guard.close().await;
        }
    }

    /// Has a request answered by its server, for a caller who has seen these tools. Dropping the future
    /// takes the request back.
    pub(super) async fn pass(
        &self,
        caller: &Caller,
        seen: &Snapshot,
        request: DoorRequest,
    ) -> Result<ToolAnswer, ToolFailure> {
        let name = shown_name(self.privacy.as_ref(), caller, None, request.name()).await;
        let mut passage = Passage::begin(self.observer.clone(), caller, &request, name);
        let span = passage.span();
        let outcome = self.carry_out(caller, seen, request, &mut passage).instrument(span).await;
        passage.end(&outcome);
        outcome
    }

    /// The same failure, naming no tool that the caller may never call.
    fn naming_shown(&self, caller: &Caller, snapshot: &Snapshot, mut failure: ToolFailure) -> ToolFailure {
        let (lookup, seen) = (snapshot.lookup(), || self.seen(caller, snapshot));
        if let ToolFailure::Unknown { nearest, .. } = &mut failure {
            seen().keep_shown(lookup, nearest);
        }
        if let ToolFailure::Ambiguous { candidates, .. } = &mut failure {
            seen().keep_shown_candidates(lookup, candidates);
        }
        failure
    }

    async fn carry_out(
        &self,
        caller: &Caller,
        seen: &Snapshot,
        request: DoorRequest,
        passage: &mut Passage,
    ) -> Result<ToolAnswer, ToolFailure> {
        // No advice names what is never answered.
        let may_name = |server: &str, prompt: Option<&str>| {
            let is_denied = |prompt| self.denies_always(caller, server, Offered::Prompt(prompt));
            caller.may_know_of(server) && !prompt.is_some_and(is_denied)
        };
        let resolved = resolve(&self.registry, seen, request, &may_name).await;
        let resolved = resolved.map_err(|failure| self.naming_shown(caller, seen, failure))?;
        let (server, name) = (&resolved.server.settings, resolved.target.name());
        passage.resolved(&resolved, shown_name(self.privacy.as_ref(), caller, Some(server), name).await);
        let resolved = web::allow(resolved)?;
        let restored = restore(self.privacy.as_ref(), caller, resolved).await?;
        let is_denied =
            |server: &str, tool: &ToolDefinition| self.denies_always(caller, server, Offered::Tool(tool));
        let checked = check(restored, is_denied)?;
        passage.checked(&checked);
        checked.watcher.holding();
        let permitted = match permit(self.guard.as_deref(), caller, checked, passage).await? {
            Permission::Send(permitted) => permitted,
            Permission::Held(answer) => return Ok(answer),
        };
        let checked = &permitted.checked;
        let _place = admit(&checked.server).await?;
        permitted.sending();
        let sent = send(&self.registry, self.guard.as_deref(), checked, passage).await;
        permitted.sent(sent.has_left);
        passage.sent(sent.has_left);
        if sent.has_left {
            self.note_marks(caller, checked).await;
        }
        let outcome = sent.answer.and_then(|raw| {
            passage.received(&raw);
            answer(checked, &raw)
        });
        let seen = checked.personal.hide(checked.source(), outcome).await;
        if let Ok(answer) = &seen {
            self.learn(caller, checked, answer);
        }
        seen
    }

    /// From what the program sees, once that is settled.
    fn learn(&self, caller: &Caller, checked: &Checked, answer: &ToolAnswer) {
        let (Some(learner), Outgoing::Tool { definition, .. }) = (&self.learner, &checked.outgoing) else {
            return;
        };
        learner.answered(caller, &checked.server.settings, definition, &answer.json);
    }

    /// What a server has said counts as read before anybody reads it, its errors too.
    async fn note_marks(&self, caller: &Caller, checked: &Checked) {
        if let Some(guard) = &self.guard {
            guard.has_answered(caller, &checked.server.settings).await;
        }
    }
}
