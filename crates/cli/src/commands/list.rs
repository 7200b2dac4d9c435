//! `gristmill list`: every configured server, and how it is.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use gristmill_config::written::transport;
use gristmill_config::{Approval, ConfiguredServer, Flags};
use gristmill_gateway::domain::{counted, cut_to_width};
use gristmill_gateway::upstream::{Refresh, ServerState, ServerStatus};
use serde_json::{Value, json};

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::terminal::{columns, one_line, wrapped};
use crate::upstreams::{self, Configured};

#[derive(Args)]
pub struct List {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    /// Do not reach the servers: show what is known
    #[arg(long)]
    pub no_check: bool,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn list(arguments: List) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let listing = Listing::of(&configured, !arguments.no_check).await?;
    match arguments.json {
        true => println!("{:#}", listing.json()),
        false if listing.is_empty() => {
            eprintln!("no servers are configured");
            eprintln!("hint: gristmill import takes those of your MCP clients");
            eprintln!("hint: gristmill add calculator -- gristmill example-server calculator");
        }
        false => {
            listing.lines().iter().for_each(|line| println!("{line}"));
            if listing.rows().any(|row| !row.is_known()) {
                eprintln!("hint: gristmill list without --no-check reaches those that are not known");
            }
        }
    }
    Ok(ExitCode::from(u8::from(listing.is_wrong())))
}

/// Every configured server, and how each is.
pub struct Listing<'a> {
    is_checked: bool,
    servers: Vec<&'a ConfiguredServer>,
    statuses: Vec<ServerStatus>,
}

impl<'a> Listing<'a> {
    /// Reaches the servers if `check`; otherwise says what is known.
    pub async fn of(configured: &'a Configured, check: bool) -> Result<Self, Failure> {
        let usable: Vec<&ConfiguredServer> = configured.config.usable_servers().collect();
        let mut statuses = Vec::new();
        if !usable.is_empty() {
            let refresh = if check { Refresh::WhenUsed } else { Refresh::Never };
            let upstreams = configured.connect(&usable, refresh)?;
            statuses = match check {
                true => with_progress(upstreams.check(), usable.len()).await,
                false => upstreams.statuses(),
            };
            gristmill_gateway::ports::ToolSource::close(&upstreams).await;
        }
        Ok(Self { is_checked: check, servers: configured.config.servers.iter().collect(), statuses })
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.servers.iter().map(|server| Row::of(server, &self.statuses, self.is_checked))
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

    /// As a person reads it, on a terminal no wider than that.
    pub fn lines(&self) -> Vec<String> {
        // Whoever shows it among other things sets it in.
        const INDENT: usize = 2;
        let room = columns(std::io::stdout()).map(|columns| columns - INDENT);
        lines(&self.rows().collect::<Vec<_>>(), room)
    }
}

/// Waits, and says on a terminal for what: a server may have to be downloaded first.
async fn with_progress<T>(work: impl Future<Output = T>, servers: usize) -> T {
    if !std::io::stderr().is_terminal() {
        return work.await;
    }
    let started = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    tokio::pin!(work);
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            _ = ticks.tick() => {
                let seconds = started.elapsed().as_secs();
                let seconds = if seconds == 0 { String::new() } else { format!(" {seconds} s") };
                eprint!("\rreaching {}…{seconds}", counted(servers, "server"));
            }
        }
    };
    eprint!("\r\x1b[K");
    done
}

struct Row<'a> {
    is_checked: bool,
    server: &'a ConfiguredServer,
    status: Option<&'a ServerStatus>,
}

impl<'a> Row<'a> {
    fn of(server: &'a ConfiguredServer, statuses: &'a [ServerStatus], is_checked: bool) -> Self {
        Self {
            is_checked,
            server,
            status: statuses.iter().find(|status| status.name == server.settings.name),
        }
    }

    fn state(&self) -> &'static str {
        match (self.status.map(|status| &status.state), self.server.approval) {
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

    /// Whether it was ever reached.
    fn is_known(&self) -> bool {
        self.state() != "not known"
    }

    fn is_wrong(&self) -> bool {
        matches!(
            self.status.map(|status| &status.state),
            Some(ServerState::Down(_) | ServerState::LoginNeeded(_))
        )
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
                "{} held back, new or changed since the last approval: gristmill tools review {name}",
                counted(status.waiting, "tool")
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

fn lines(rows: &[Row<'_>], room: Option<usize>) -> Vec<String> {
    const NAME_WIDTH_MAX: usize = 20;
    const TRANSPORT_WIDTH_MIN: usize = 16;
    let cells: Vec<[String; 4]> = rows.iter().map(cells).collect();
    let width = |column: usize| cells.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
    let name_max = if room.is_some() { NAME_WIDTH_MAX } else { usize::MAX };
    let [name_width, state_width, tools_width, took_width] =
        [width(0).min(name_max), width(1), width(2), width(3)];
    let mut lines = Vec::new();
    for (row, [name, state, tools, took]) in rows.iter().zip(&cells) {
        let name = cut_to_width(name, name_width);
        let first = format!(
            "{name:<name_width$}  {state:<state_width$}  {tools:>tools_width$}  {took:>took_width$}  "
        );
        let left = room
            .map_or(usize::MAX, |room| room.saturating_sub(first.chars().count()).max(TRANSPORT_WIDTH_MIN));
        lines.push(format!("{first}{}", cut_to_width(&transport(&row.server.settings), left)));
        let left = room.map_or(usize::MAX, |room| room.saturating_sub(name_width + 2));
        let mut more = |begin: &str, text: &str| {
            let left = left.saturating_sub(begin.len());
            lines.extend(wrapped(text, left).iter().map(|line| format!("{:name_width$}  {begin}{line}", "")));
        };
        // Why a file is not approved was said once for all of it.
        let remarks = row.status.map_or_else(Vec::new, |_| row.remarks());
        remarks.iter().for_each(|remark| more("", remark));
        let log = row.status.into_iter().filter(|_| row.is_wrong()).flat_map(|status| &status.log);
        log.for_each(|line| more("| ", &one_line(line)));
    }
    lines
}

/// Its name, its state, how many tools, and how long they took.
fn cells(row: &Row<'_>) -> [String; 4] {
    let known = row.status.filter(|status| row.is_known() && !(row.is_wrong() && status.tools == 0));
    let took = row.status.and_then(|status| status.took).filter(|_| row.state() == "up");
    [
        row.server.settings.name.clone(),
        row.state().to_owned(),
        known.map_or_else(String::new, |status| counted(status.tools, "tool")),
        took.map_or_else(String::new, |took| format!("{} ms", took.as_millis())),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gristmill_gateway::domain::ServerSettings;

    use super::*;
    use gristmill_config::Origin;

    #[test]
    fn rows_fit_the_terminal_and_words_stay_whole() {
        let server = |name: &str, args: &[&str]| ConfiguredServer {
            settings: ServerSettings::program(name, "npx", args),
            origin: Origin::Default,
            approval: Approval::Given,
            variables: Arc::default(),
        };
        let status = |state: ServerState, tools: usize| ServerStatus {
            name: "a".to_owned(),
            state,
            facts: None,
            tools,
            waiting: 0,
            unreadable: Vec::new(),
            took: Some(Duration::from_millis(1234)),
            log: vec!["it wrote a line about a missing licence key".to_owned()],
        };
        let servers = [
            server("calculator", &["-y", "@example/server-calculator"]),
            server("a-server-with-a-very-long-name", &["server"]),
            server("new", &["server"]),
        ];
        let statuses = [
            status(ServerState::Up, 4),
            status(
                ServerState::Down("the server ended with exit code 3 soon after it started".to_owned()),
                0,
            ),
            status(ServerState::Starting, 0),
        ];
        let rows: Vec<Row<'_>> = servers
            .iter()
            .zip(&statuses)
            .map(|(server, status)| Row { is_checked: false, server, status: Some(status) })
            .collect();
        assert_eq!(
            lines(&rows, Some(72)),
            [
                "calculator            up         4 tools  1234 ms  npx -y @example/serv…",
                "a-server-with-a-ver…  down                         npx server",
                "                      the server ended with exit code 3 soon after it",
                "                      started",
                "                      | it wrote a line about a missing licence key",
                "new                   not known                    npx server",
            ]
        );
        let lines = lines(&rows, None);
        assert_eq!(lines[0].rsplit("  ").next(), Some("npx -y @example/server-calculator"));
    }
}
