//! A caller with habits that uses a tool or a server for the first time.

use serde::{Deserialize, Serialize};

use super::{Look, count, number};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, option, plain};
use crate::event::{CallOutcome, Called};
use crate::history::{DAY_MS, hash};
use crate::limits::{SERVERS_OF_CALLER_MAX, TOOLS_OF_CALLER_MAX};

/// Active days and calls that make habits.
const DAYS_MIN: u32 = 5;
const CALLS_MIN: u64 = 100;
/// New tools within a week that make an explorer, whose next one is no news.
const NEW_TOOLS_MAX: usize = 4;
/// A server that anybody has used for so long isn't new itself.
const SERVER_KNOWN_MS: u64 = 3 * DAY_MS;

/// What a caller has used, by hashes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct FirstUse {
    servers: Vec<Used>,
    tools: Vec<Used>,
    calls: u64,
    days: u32,
    today: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Used {
    what: u64,
    first_ms: u64,
    last_ms: u64,
}

impl FirstUse {
    /// `server_known_ms` is how long anybody has been using the server.
    pub fn see(&mut self, look: Look<'_>, event: &Called, server_known_ms: u64) -> Option<Anomaly> {
        if event.outcome == CallOutcome::Denied {
            return None;
        }
        let now_ms = look.now.ms;
        let has_habits = self.days > DAYS_MIN && self.calls >= CALLS_MIN;
        if look.now.day != self.today {
            self.today = look.now.day;
            self.days = self.days.saturating_add(1);
        }
        self.calls = self.calls.saturating_add(1);
        let (servers, tools) = (self.servers.len(), self.tools.len());
        let server = hash(&event.server);
        let tool = hash(&format!("{}\n{}", event.server, event.tool));
        let week = |used: &&Used| now_ms.saturating_sub(used.first_ms) < 7 * DAY_MS;
        let is_explorer = self.tools.iter().filter(week).count() >= NEW_TOOLS_MAX;
        let is_new_server = touch(&mut self.servers, server, now_ms, SERVERS_OF_CALLER_MAX);
        let is_new_tool = touch(&mut self.tools, tool, now_ms, TOOLS_OF_CALLER_MAX);
        if !has_habits || !is_new_tool || (is_explorer && !is_new_server) {
            return None;
        }
        let mut found = if is_new_server { of_server(event, server_known_ms) } else { of_tool(event) };
        found.words = format!(
            "{}; in {} active days it used {tools} tools of {servers} servers.",
            found.words, self.days
        );
        let found = found.fact("active_days", f64::from(self.days)).fact("calls", number(self.calls));
        let found = found.fact("tools", count(tools)).fact("servers", count(servers));
        Some(found.executions([&event.execution].into_iter()))
    }

    pub fn trim(&mut self) {
        self.servers.truncate(SERVERS_OF_CALLER_MAX);
        self.tools.truncate(TOOLS_OF_CALLER_MAX);
    }
}

fn of_server(event: &Called, server_known_ms: u64) -> Anomaly {
    // A server that is new to everybody was just added, by whoever runs this.
    let is_added = server_known_ms < SERVER_KNOWN_MS;
    let severity = if is_added { Severity::Notice } else { Severity::Warning };
    let others = if is_added { "which is new here" } else { "which others have been using" };
    let words = format!(
        "Caller {} called server {} for the first time, {others}",
        plain(&event.caller),
        plain(&event.server)
    );
    let subject = Subject::Use { caller: event.caller.clone(), server: event.server.clone(), tool: None };
    let options = option("--caller", &event.caller) + &option("--server", &event.server);
    Anomaly::new(Kind::FirstServer, severity, subject, words)
        .action(format!("gristmill audit query{options} --since 1d"))
}

fn of_tool(event: &Called) -> Anomaly {
    let words = format!(
        "Caller {} called {}.{} for the first time",
        plain(&event.caller),
        plain(&event.server),
        plain(&event.tool)
    );
    let subject = Subject::Use {
        caller: event.caller.clone(),
        server: event.server.clone(),
        tool: Some(event.tool.clone()),
    };
    let options = option("--caller", &event.caller) + &option("--tool", &event.tool);
    Anomaly::new(Kind::FirstTool, Severity::Notice, subject, words)
        .action(format!("gristmill audit query{options} --since 1d"))
}

/// Whether it is new. A full list forgets what was not used for longest.
fn touch(list: &mut Vec<Used>, what: u64, now_ms: u64, max: usize) -> bool {
    if let Some(known) = list.iter_mut().find(|used| used.what == what) {
        known.last_ms = now_ms;
        return false;
    }
    if list.len() >= max
        && let Some((oldest, _)) = list.iter().enumerate().min_by_key(|(_, used)| used.last_ms)
    {
        list.swap_remove(oldest);
    }
    list.push(Used { what, first_ms: now_ms, last_ms: now_ms });
    true
}
