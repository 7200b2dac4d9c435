//! `gristmill list`: the configured servers and their status.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gristmill_config::written::transport;
use gristmill_config::{Approval, ConfiguredServer, Flags};
use gristmill_gateway::domain::{Level, Transport, format_ms, grouped, parse_ms};
use gristmill_gateway::upstream::{Refresh, ServerState, ServerStatus, Upstreams};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::list_screen::{FRAME, Progress, Screen};
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::hints::hint;
use crate::table::{Column, Table};
use crate::terminal::{columns, one_line, print_json};
use crate::upstreams::{self, Configured};

/// How long a server has to answer, if nothing else is said.
pub const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Args)]
pub struct List {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    /// Show what's known without contacting the servers
    #[arg(long)]
    pub no_check: bool,

    /// How long to wait for each server
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time, conflicts_with = "no_check")]
    pub timeout: Duration,

    #[command(flatten)]
    pub config: ConfigFile,
}

/// A time such as `10s` or `2m`; a bare number is seconds.
pub fn time(text: &str) -> Result<Duration, String> {
    match parse_ms(text) {
        Ok(ms) if ms > 0 => Ok(Duration::from_millis(ms)),
        Ok(_) | Err(_) => Err("must be a time such as 10s or 2m".to_owned()),
    }
}

pub async fn list(arguments: List) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let progress = if arguments.json { Progress::Nothing } else { Progress::Table };
    let look = match arguments.no_check {
        true => Look::AtWhatIsKnown,
        false => Look::Ask { timeout: arguments.timeout, progress },
    };
    let listing = Listing::of(&configured, look).await?;
    match arguments.json {
        true => print_json(&listing.json()),
        false if listing.is_empty() => {
            eprintln!("No servers configured.");
            hint("`gristmill import` imports the servers of your MCP clients");
            hint("`gristmill add calculator -- gristmill example-server calculator` adds an example");
        }
        false => {
            listing.lines(0).iter().for_each(|line| println!("{line}"));
            if listing.rows().any(|row| !row.is_known()) {
                hint("`gristmill list` without --no-check asks the servers that aren't checked yet");
            }
        }
    }
    Ok(ExitCode::from(u8::from(listing.is_wrong())))
}

/// Where the status of servers comes from.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// No server is started or reached.
    AtWhatIsKnown,
    /// Every server is asked, all at once.
    Ask {
        /// For each of them.
        timeout: Duration,
        progress: Progress,
    },
}

/// Every configured server, and its status.
pub struct Listing<'a> {
    servers: Vec<&'a ConfiguredServer>,
    /// It decides whether servers are confined that do not say so.
    level: Level,
    statuses: Vec<ServerStatus>,
    /// Whether they were asked.
    is_checked: bool,
    /// Those that have not answered yet.
    pending: Vec<String>,
}

impl<'a> Listing<'a> {
    pub async fn of(configured: &'a Configured, look: Look) -> Result<Self, Failure> {
        let servers = configured.config.servers.iter().collect();
        let level = configured.config.limits.level();
        let mut listing =
            Self { servers, level, statuses: Vec::new(), is_checked: false, pending: Vec::new() };
        let usable: Vec<&ConfiguredServer> = configured.config.usable_servers().collect();
        if usable.is_empty() {
            return Ok(listing);
        }
        // Nobody but `ask` reaches a server: two attempts would take twice as long.
        let upstreams = configured.connect(&usable, Refresh::Never)?;
        listing.statuses = upstreams.statuses();
        if let Look::Ask { timeout, progress } = look {
            listing.ask(&upstreams, timeout, progress).await;
        }
        gristmill_gateway::ports::ToolSource::close(&upstreams).await;
        Ok(listing)
    }

    /// Asks all servers at once, and shows each answer as it comes.
    async fn ask(&mut self, upstreams: &Upstreams, timeout: Duration, progress: Progress) {
        self.is_checked = true;
        self.pending = self.statuses.iter().map(|status| status.name.clone()).collect();
        let mut asked = JoinSet::new();
        for name in self.pending.clone() {
            let upstreams = upstreams.clone();
            asked.spawn(async move { status_within(&upstreams, &name, timeout).await });
        }
        let total = self.pending.len();
        let mut screen = Screen::new(progress);
        let mut frames = tokio::time::interval(FRAME);
        screen.draw(|| self.lines(0));
        loop {
            let is_seen = screen.is_seen();
            tokio::select! {
                answer = asked.join_next() => match answer {
                    Some(answer) => {
                        self.take(answer.ok().flatten());
                        screen.draw(|| self.lines(0));
                    }
                    None => break,
                },
                _ = frames.tick(), if is_seen => screen.tick(total - self.pending.len(), total),
            }
        }
        self.pending.clear();
        screen.erase();
    }

    fn take(&mut self, answer: Option<ServerStatus>) {
        let Some(answer) = answer else { return };
        self.pending.retain(|name| *name != answer.name);
        if let Some(status) = self.statuses.iter_mut().find(|status| status.name == answer.name) {
            *status = answer;
        }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.servers.iter().map(|server| Row {
            level: self.level,
            is_checked: self.is_checked,
            is_pending: self.pending.contains(&server.settings.name),
            server,
            status: self.statuses.iter().find(|status| status.name == server.settings.name),
        })
    }

    /// The servers that run with the user's rights.
    pub fn free(&self) -> Vec<&str> {
        let is_free = |row: &Row<'_>| row.is_confined() == Some(false) && row.server.settings.enabled;
        let free = self.servers.iter().zip(self.rows()).filter(|(_, row)| is_free(row));
        free.map(|(server, _)| server.settings.name.as_str()).collect()
    }

    /// Whether none is configured.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Whether any is down or wants a login.
    pub fn is_wrong(&self) -> bool {
        self.rows().any(|row| row.is_wrong())
    }

    /// As a machine reads it.
    pub fn json(&self) -> Value {
        Value::from(self.rows().map(|row| row.json()).collect::<Vec<_>>())
    }

    /// As a person reads it, on a terminal no wider than that, `indent` columns from its edge.
    pub fn lines(&self, indent: usize) -> Vec<String> {
        let room = columns(std::io::stdout()).map(|columns| columns.saturating_sub(indent));
        table(self.rows()).lines(room)
    }
}

/// How a server is, or that it did not say so in time.
pub(super) async fn status_within(
    upstreams: &Upstreams,
    name: &str,
    timeout: Duration,
) -> Option<ServerStatus> {
    if let Ok(status) = tokio::time::timeout(timeout, upstreams.check_one(name)).await {
        return status;
    }
    let limit = format_ms(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let why = format!("didn't answer within {limit}; if it's slow to start, raise --timeout");
    let known = upstreams.statuses().into_iter().find(|status| status.name == name)?;
    Some(ServerStatus { state: ServerState::Down(why), took: Some(timeout), ..known })
}

struct Row<'a> {
    level: Level,
    is_checked: bool,
    is_pending: bool,
    server: &'a ConfiguredServer,
    status: Option<&'a ServerStatus>,
}

impl Row<'_> {
    /// Whether it is confined; `None` if it is not ours to start.
    fn is_confined(&self) -> Option<bool> {
        match self.server.settings.transport {
            Transport::Stdio { .. } => Some(self.server.settings.sandbox.at(self.level).is_some()),
            Transport::Http { .. } | Transport::Hosts(_) => None,
        }
    }

    /// As `--json` has it.
    fn state(&self) -> &'static str {
        match (self.status.map(|status| &status.state), self.server.approval) {
            (Some(_), _) if self.is_pending => "starting",
            (Some(ServerState::Up), _) => "up",
            (Some(ServerState::Idle), _) => "idle",
            (Some(ServerState::Starting), _) if self.is_checked => "starting",
            // Nobody starts it.
            (Some(ServerState::Starting), _) => "not known",
            (Some(ServerState::Down(_)), _) => "down",
            (Some(ServerState::LoginNeeded(_)), _) => "login needed",
            (None, _) if !self.server.settings.enabled => "disabled",
            (None, _) => "not approved",
        }
    }

    /// As people read it.
    fn state_text(&self) -> &'static str {
        match self.state() {
            "not known" => "not checked yet",
            "up" if self.is_confined() == Some(true) => "up, sandboxed",
            state => state,
        }
    }

    /// Whether it was ever reached.
    fn is_known(&self) -> bool {
        self.state() != "not known"
    }

    fn is_wrong(&self) -> bool {
        let state = self.status.map(|status| &status.state).filter(|_| !self.is_pending);
        matches!(state, Some(ServerState::Down(_) | ServerState::LoginNeeded(_)))
    }

    fn remarks(&self) -> Vec<String> {
        let name = &self.server.settings.name;
        let Some(status) = self.status else {
            let remedy = self.server.approval.remedy().filter(|_| self.server.settings.enabled);
            return remedy.map(str::to_owned).into_iter().collect();
        };
        let mut remarks = Vec::new();
        match &status.state {
            ServerState::Down(why) | ServerState::LoginNeeded(why) => remarks.push(one_line(why)),
            ServerState::Up | ServerState::Idle | ServerState::Starting => {}
        }
        if status.waiting > 0 {
            remarks.push(format!(
                "held back until you approve: {}: gristmill tools review {name}",
                status.waiting_words
            ));
        }
        remarks.extend(status.unreadable.iter().map(|problem| one_line(problem)));
        remarks
    }

    fn json(&self) -> Value {
        let status = self.status;
        json!({
            "name": self.server.settings.name,
            "state": self.state(),
            "transport": transport(&self.server.settings),
            "approved": self.server.approval == Approval::Given,
            "enabled": self.server.settings.enabled,
            "sandbox": self.is_confined().map(|is_confined| if is_confined { "on" } else { "off" }),
            "origin": self.server.origin.to_string(),
            "tools": status.filter(|_| self.is_known()).map(|status| status.tools),
            "waiting": status.map(|status| status.waiting),
            "title": status.and_then(|status| status.facts.as_ref()?.title.clone()),
            "version": status.and_then(|status| status.facts.as_ref()?.version.clone()),
            "protocol": status.and_then(|status| Some(status.facts.as_ref()?.protocol.clone())),
            "took_ms": status.and_then(|status| Some(status.took?.as_millis() as u64)),
            "remarks": self.remarks(),
            "log": status.map(|status| status.log.clone()).filter(|_| self.is_wrong()),
        })
    }
}

fn table<'a>(rows: impl Iterator<Item = Row<'a>>) -> Table {
    let mut table = Table::new([
        Column::left("SERVER"),
        Column::left("STATUS"),
        Column::right("TOOLS"),
        Column::right("TIME"),
        Column::cut("COMMAND OR URL"),
    ]);
    for row in rows {
        table.row(cells(&row));
        // Why a file is not approved was said once for all of it.
        let Some(status) = row.status.filter(|_| !row.is_pending) else { continue };
        row.remarks().into_iter().for_each(|remark| table.note(remark));
        if row.is_wrong() {
            status.log.iter().for_each(|line| table.note(format!("| {}", one_line(line))));
        }
    }
    table
}

/// In the order of the table's columns.
fn cells(row: &Row<'_>) -> [String; 5] {
    let is_told = row.is_known() && !row.is_pending;
    let known = row.status.filter(|status| is_told && !(row.is_wrong() && status.tools == 0));
    let took = row.status.and_then(|status| status.took).filter(|_| row.state() == "up");
    [
        one_line(&row.server.settings.name),
        row.state_text().to_owned(),
        known.map_or_else(String::new, |status| grouped(status.tools as u64)),
        took.map_or_else(String::new, |took| format!("{} ms", grouped(took.as_millis() as u64))),
        transport(&row.server.settings),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gristmill_gateway::domain::ServerSettings;

    use super::*;
    use gristmill_config::Origin;

    #[test]
    fn rows_fit_the_terminal_and_say_why_a_server_is_down() {
        let server = |name: &str, args: &[&str]| ConfiguredServer {
            settings: ServerSettings::program(name, "npx", args),
            origin: Origin::Default,
            approval: Approval::Given,
            variables: Arc::default(),
            files: Default::default(),
        };
        let status = |state: ServerState, tools: usize| ServerStatus {
            name: "a".to_owned(),
            state,
            facts: None,
            tools,
            waiting: 0,
            waiting_words: String::new(),
            unreadable: Vec::new(),
            took: Some(Duration::from_millis(1234)),
            log: vec!["it wrote a line about a missing license key".to_owned()],
        };
        let servers = [
            server("calculator", &["-y", "@example/server-calculator"]),
            server("github", &["server"]),
            server("new", &["server"]),
        ];
        let statuses = [
            status(ServerState::Up, 4),
            status(
                ServerState::Down(
                    "the server exited with code 3 before it answered any of the requests it was sent"
                        .to_owned(),
                ),
                0,
            ),
            status(ServerState::Starting, 0),
        ];
        let rows = servers.iter().zip(&statuses).map(|(server, status)| Row {
            level: Level::Production,
            is_checked: false,
            is_pending: false,
            server,
            status: Some(status),
        });
        assert_eq!(
            table(rows).lines(Some(76)),
            [
                "SERVER      STATUS           TOOLS      TIME  COMMAND OR URL",
                "calculator  up                   4  1,234 ms  npx -y @example/server-calcul…",
                "github      down                              npx server",
                "  the server exited with code 3 before it answered any of the requests it",
                "  was sent",
                "  | it wrote a line about a missing license key",
                "new         not checked yet                   npx server",
            ]
        );
    }
}
