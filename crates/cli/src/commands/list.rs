//! `gristmill list`: every configured server, and how it is.

use std::process::ExitCode;

use gristmill_gateway::domain::{ServerSettings, Transport};
use gristmill_gateway::upstream::{Refresh, ServerState, ServerStatus};
use serde_json::{Value, json};

use super::{Failure, Outcome};
use crate::arguments::List;
use crate::config::{Approval, ConfiguredServer, Flags};
use crate::terminal::one_line;
use crate::upstreams::{self, Configured};

pub async fn list(arguments: List) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let listing = Listing::of(&configured, !arguments.no_check).await?;
    match arguments.json {
        true => println!("{:#}", listing.json()),
        false if listing.is_empty() => {
            eprintln!("no servers are configured");
            eprintln!("hint: gristmill add calculator -- gristmill example-server calculator");
        }
        false => listing.lines().iter().for_each(|line| println!("{line}")),
    }
    Ok(ExitCode::from(u8::from(listing.is_wrong())))
}

/// Every configured server, and how each is.
pub struct Listing<'a> {
    servers: Vec<&'a ConfiguredServer>,
    statuses: Vec<ServerStatus>,
}

impl<'a> Listing<'a> {
    /// Reaches the servers if `check`; otherwise says what is known.
    pub async fn of(configured: &'a Configured, check: bool) -> Result<Self, Failure> {
        let usable: Vec<&ConfiguredServer> = configured.config.usable_servers().collect();
        let mut statuses = Vec::new();
        if !usable.is_empty() {
            let upstreams = configured.connect(&usable, Refresh::WhenUsed)?;
            statuses = match check {
                true => upstreams.check().await,
                false => upstreams.statuses(),
            };
            gristmill_gateway::ports::ToolSource::close(&upstreams).await;
        }
        Ok(Self { servers: configured.config.servers.iter().collect(), statuses })
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.servers.iter().map(|server| Row::of(server, &self.statuses))
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

    /// As a person reads it.
    pub fn lines(&self) -> Vec<String> {
        lines(&self.rows().collect::<Vec<_>>())
    }
}

struct Row<'a> {
    server: &'a ConfiguredServer,
    status: Option<&'a ServerStatus>,
}

impl<'a> Row<'a> {
    fn of(server: &'a ConfiguredServer, statuses: &'a [ServerStatus]) -> Self {
        Self { server, status: statuses.iter().find(|status| status.name == server.settings.name) }
    }

    fn state(&self) -> &'static str {
        match (self.status.map(|status| &status.state), self.server.approval) {
            (Some(ServerState::Up), _) => "up",
            (Some(ServerState::Idle), _) => "idle",
            (Some(ServerState::Starting), _) => "starting",
            (Some(ServerState::Down(_)), _) => "down",
            (Some(ServerState::LoginNeeded(_)), _) => "login needed",
            (None, _) if !self.server.settings.enabled => "disabled",
            (None, _) => "not approved",
        }
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
            "tools": status.map(|status| status.tools),
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

fn lines(rows: &[Row<'_>]) -> Vec<String> {
    let width = |text: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let name_width = width(&|row| row.server.settings.name.chars().count());
    let state_width = width(&|row| row.state().len());
    let mut lines = Vec::new();
    for row in rows {
        let tools = row.status.map_or_else(String::new, |status| counted(status.tools, "tool"));
        let took = row.status.and_then(|status| status.took).filter(|_| row.state() == "up");
        let took = took.map_or_else(String::new, |took| format!("{} ms", took.as_millis()));
        let (name, state) = (&row.server.settings.name, row.state());
        lines.push(format!(
            "{name:<name_width$}  {state:<state_width$}  {tools:>10}  {took:>8}  {}",
            transport(&row.server.settings)
        ));
        lines.extend(row.remarks().iter().map(|remark| format!("{:name_width$}  {remark}", "")));
        let log = row.status.into_iter().filter(|_| row.is_wrong()).flat_map(|status| &status.log);
        lines.extend(log.map(|line| format!("{:name_width$}  | {}", "", one_line(line))));
    }
    lines
}

/// How it is reached, with nothing in it that might be a secret.
pub fn transport(settings: &ServerSettings) -> String {
    match &settings.transport {
        Transport::Stdio { command, args, .. } => {
            let words: Vec<String> =
                std::iter::once(command).chain(args).map(|word| word.written()).collect();
            one_line(&words.join(" "))
        }
        Transport::Http { url, .. } => {
            let url = url.written();
            one_line(url.split(['?', '#']).next().unwrap_or_default())
        }
    }
}

pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
