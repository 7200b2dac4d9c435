//! All that is remembered.

use serde::{Deserialize, Serialize};

use crate::detect::{
    Answers, CallFailures, CallVolume, CallerFailures, CallerRepeats, Denials, FirstUse, GatewayFailures,
    Hours, NearLimits, OutputVolume, Pools, Repeats, Savings, SessionFailures,
};
use crate::history::Bounded;
use crate::limits::{CALLERS_MAX, SERVERS_MAX, SESSIONS_MAX, TOLD_MAX, TOOLS_MAX};

/// The past of callers, sessions, tools and servers. Write it with any serde format to survive a restart; it holds
/// names, ids, hashes and numbers, and nothing of a program's data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    pub(crate) callers: Bounded<CallerPast>,
    pub(crate) sessions: Bounded<SessionPast>,
    pub(crate) tools: Bounded<ToolPast>,
    pub(crate) servers: Bounded<ServerPast>,
    pub(crate) gateway: GatewayFailures,
    pub(crate) pools: Pools,
    /// When each finding was last told.
    pub(crate) told: Bounded<u64>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CallerPast {
    pub failures: CallerFailures,
    pub denials: Denials,
    pub calls: CallVolume,
    pub output: OutputVolume,
    pub near_limits: NearLimits,
    pub first_use: FirstUse,
    pub repeats: CallerRepeats,
    pub savings: Savings,
    pub hours: Hours,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SessionPast {
    pub failures: SessionFailures,
    pub repeats: Repeats,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ToolPast {
    pub failures: CallFailures,
    pub calls: CallVolume,
    pub answers: Answers,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ServerPast {
    pub failures: CallFailures,
    pub first_ms: u64,
}

impl Memory {
    /// What was read from a file may be larger than we ever write.
    pub(crate) fn trim(&mut self) {
        self.callers.keep(CALLERS_MAX);
        self.sessions.keep(SESSIONS_MAX);
        self.tools.keep(TOOLS_MAX);
        self.servers.keep(SERVERS_MAX);
        self.told.keep(TOLD_MAX);
        for caller in self.callers.values_mut() {
            caller.denials.trim();
            caller.calls.trim();
            caller.output.trim();
            caller.first_use.trim();
            caller.savings.trim();
            caller.hours.trim();
        }
        self.sessions.values_mut().for_each(|session| session.repeats.trim());
        for tool in self.tools.values_mut() {
            tool.calls.trim();
            tool.answers.trim();
        }
    }
}
