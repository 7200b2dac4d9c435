//! Marked servers: what was read from them, and what may not be sent any more.

use gristmill_domain::ServerSettings;
use gristmill_domain::policy::{Decided, Decision, Mark, Seen};

use super::Guard;
use super::question::Approvable;
use crate::ids::Caller;

impl Guard {
    /// What is against sending anything to this server, after what the caller has read.
    pub(in crate::upstream) async fn flow(
        &self,
        caller: &Caller,
        server: &ServerSettings,
    ) -> Option<Decided> {
        let ledger = self.marks.as_ref()?;
        let flow = self.policy.flow();
        let level = caller.level.map_or(self.level, |of_program| of_program.max(self.level));
        if !server.marks.has(Mark::External) || flow.decision(level) == Decision::Allow {
            return None;
        }
        flow.decide(&ledger.seen(caller).await, &server.name, &server.marks, level)
    }

    /// Notes that a server has answered, before anybody hears what.
    pub(in crate::upstream) async fn has_answered(&self, caller: &Caller, server: &ServerSettings) {
        if let Some(ledger) = self.marks.as_ref().filter(|_| server.marks.is_remembered()) {
            ledger.note(caller, &Seen::from_server(&server.name, &server.marks)).await;
        }
    }

    /// Which of both counts: the stricter. A question that was answered before leaves it to the other.
    pub(in crate::upstream) fn stricter(
        &self,
        call: &Approvable<'_>,
        decided: Decided,
        flow: Option<Decided>,
    ) -> Decided {
        let Some(flow) = flow else { return decided };
        match (flow.decision, decided.decision) {
            (_, Decision::Deny) | (Decision::Allow, _) => decided,
            (Decision::Ask, Decision::Ask) if self.was_answered(call, &flow) => decided,
            (Decision::Ask | Decision::Deny, Decision::Allow | Decision::Ask) => flow,
        }
    }
}
