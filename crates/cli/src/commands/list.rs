//! `gristmill list`: every configured server, and how it is.

use std::process::ExitCode;

use gristmill_gateway::domain::{ServerSettings, Transport};
use gristmill_gateway::upstream::{Refresh, ServerState, ServerStatus};
use serde_json::{Value, json};

use super::Outcome;
use crate::arguments::List;
use crate::config::{Approval, ConfiguredServer, Flags};
use crate::terminal::one_line;
use crate::upstreams;

pub async fn list(arguments: List) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let servers: Vec<&ConfiguredServer> = configured.config.servers.iter().collect();
    let usable: Vec<&ConfiguredServer> = configured.config.usable_servers().collect();
    let statuses = if usable.is_empty() {
        Vec::new()
    } else {
        let upstreams = configured.connect(&usable, Refresh::WhenUsed)?;
        let statuses = match arguments.no_check {
            true => upstreams.statuses(),
            false => upstreams.check().await,
        };
        gristmill_gateway::ports::ToolSource::close(&upstreams).await;
        statuses
    };
    let rows: Vec<Row> = servers.iter().map(|server| Row::of(server, &statuses)).collect();
    match arguments.json {
        true => println!("{:#}", Value::from(rows.iter().map(Row::json).collect::<Vec<_>>())),
        false => print(&rows),
    }
    Ok(ExitCode::from(u8::from(rows.iter().any(Row::is_wrong))))
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

fn print(rows: &[Row<'_>]) {
    if rows.is_empty() {
        eprintln!("no servers are configured");
        eprintln!("hint: gristmill add calculator -- gristmill example-server calculator");
        return;
    }
    let width = |text: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(text).max().unwrap_or(0);
    let name_width = width(&|row| row.server.settings.name.chars().count());
    let state_width = width(&|row| row.state().len());
    for row in rows {
        let tools = row.status.map_or_else(String::new, |status| counted(status.tools, "tool"));
        let took = row.status.and_then(|status| status.took).filter(|_| row.state() == "up");
        let took = took.map_or_else(String::new, |took| format!("{} ms", took.as_millis()));
        let (name, state) = (&row.server.settings.name, row.state());
        println!(
            "{name:<name_width$}  {state:<state_width$}  {tools:>10}  {took:>8}  {}",
            transport(&row.server.settings)
        );
        for remark in row.remarks() {
            println!("{:name_width$}  {remark}", "");
        }
        for line in row.status.into_iter().filter(|_| row.is_wrong()).flat_map(|status| &status.log) {
            println!("{:name_width$}  | {}", "", one_line(line));
        }
    }
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
