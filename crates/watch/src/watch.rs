//! The way of an event through the detectors.

use crate::anomaly::{Anomaly, Kind, Subject};
use crate::detect::Look;
use crate::event::{Called, Executed};
use crate::history::Now;
use crate::limits::{CALLERS_MAX, SERVERS_MAX, SESSIONS_MAX, TOLD_MAX, TOOLS_MAX};
use crate::memory::Memory;
use crate::settings::Settings;

/// Takes events, finds what is unusual. One value for one gateway; events come roughly in the order of their time.
#[derive(Debug, Clone)]
pub struct Watch {
    settings: Settings,
    memory: Memory,
}

impl Watch {
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, memory: Memory::default() }
    }

    /// Goes on where another one has ended.
    #[must_use]
    pub fn restore(settings: Settings, mut memory: Memory) -> Self {
        memory.trim();
        Self { settings, memory }
    }

    /// What to write to survive a restart.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn executed(&mut self, event: &Executed) -> Vec<Anomaly> {
        let now = Now::new(event.at_ms, self.settings.utc_offset_minutes);
        let look = Look { now, settings: &self.settings };
        let memory = &mut self.memory;
        let caller = memory.callers.entry(&event.caller, now.ms, CALLERS_MAX);
        let session_key = match &event.session {
            Some(session) => format!("{}\n{session}", event.caller),
            None => event.caller.clone(),
        };
        let session = memory.sessions.entry(&session_key, now.ms, SESSIONS_MAX);

        let mut found = Vec::new();
        if let Some(name) = &event.session {
            found.extend(session.failures.see(look, event, name, caller.failures.rate()));
        }
        found.extend(caller.failures.see(look, event));
        found.extend(memory.gateway.see(look, event));
        found.extend(session.repeats.see(look, event, &mut caller.repeats));
        found.extend(caller.output.see(look, event, &mut memory.pools));
        found.extend(caller.near_limits.see(look, event));
        found.extend(caller.savings.see(look, event));
        found.extend(caller.hours.see(look, event));
        self.tell(found, now.ms)
    }

    pub fn called(&mut self, event: &Called) -> Vec<Anomaly> {
        let now = Now::new(event.at_ms, self.settings.utc_offset_minutes);
        let look = Look { now, settings: &self.settings };
        let memory = &mut self.memory;
        let caller = memory.callers.entry(&event.caller, now.ms, CALLERS_MAX);
        let tool = memory.tools.entry(&format!("{}\n{}", event.server, event.tool), now.ms, TOOLS_MAX);
        let server = memory.servers.entry(&event.server, now.ms, SERVERS_MAX);
        if server.first_ms == 0 {
            server.first_ms = now.ms;
        }
        let server_known_ms = now.ms.saturating_sub(server.first_ms);

        let mut found = Vec::new();
        found.extend(caller.denials.see(look, event));
        found.extend(caller.first_use.see(look, event, server_known_ms));
        found.extend(caller.calls.see_caller(look, event, &mut memory.pools));
        found.extend(tool.calls.see_tool(look, event, &mut memory.pools));
        let this_tool = || Subject::Tool { server: event.server.clone(), tool: event.tool.clone() };
        found.extend(tool.failures.see(look, event, this_tool));
        found.extend(server.failures.see(look, event, || Subject::Server(event.server.clone())));
        found.extend(tool.answers.see(look, event));
        self.tell(found, now.ms)
    }

    /// A finding that goes on is told again only after a while.
    fn tell(&mut self, found: Vec<Anomaly>, now_ms: u64) -> Vec<Anomaly> {
        if found.is_empty() {
            return found;
        }
        let again_after_ms = self.settings.again_after_ms;
        let told = &mut self.memory.told;
        let is_due = |anomaly: &Anomaly| {
            let last = told.get(&anomaly.key).copied();
            let is_due = last.is_none_or(|last| now_ms.abs_diff(last) >= again_after_ms);
            if is_due {
                *told.entry(&anomaly.key, now_ms, TOLD_MAX) = now_ms;
            }
            is_due
        };
        let mut due: Vec<Anomaly> = found.into_iter().filter(is_due).collect();
        due.iter_mut().for_each(|anomaly| anomaly.at_ms = now_ms);
        // A stuck program is why its session fails; the first says more.
        let is_loop = due.iter().any(|anomaly| anomaly.kind == Kind::RepeatedProgram);
        if is_loop {
            due.retain(|anomaly| anomaly.kind != Kind::Failures);
        }
        due
    }
}
