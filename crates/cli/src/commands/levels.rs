//! `gristmill levels`: what each isolation level limits and promises.

use std::process::ExitCode;

use clap::Args;
use gristmill_gateway::checks::Guardrails;
use gristmill_gateway::domain::policy::{
    Arguments, Asked, AskedKind, Decision, Hints, Policy, PolicySettings,
};
use gristmill_gateway::domain::{Level, LimitName, Limits, PrivacyMode, Sandboxing};
use gristmill_gateway::{EngineId, Wall, required_walls, required_walls_of};
use serde_json::{Map, Value, json};

use super::Outcome;
use super::doctor::name_of;
use crate::arguments::{ConfigFile, LimitArguments};
use crate::hints::hint;
use crate::table::{Column, Table};
use crate::upstreams::{self, Configured};

#[derive(Args)]
pub struct Levels {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub fn levels(arguments: &Levels) -> Outcome {
    let flags = LimitArguments { level: None, privacy: None, timeout: None, memory: None, limit: Vec::new() };
    let (read, configured) = upstreams::read_with_limits(true, &arguments.config, &flags)?;
    let guards = Guards::of(read.as_ref());
    if arguments.json {
        println!("{:#}", as_json(&configured, &guards));
        return Ok(ExitCode::SUCCESS);
    }
    println!("limits of a program:");
    limits_table().print();
    println!("\nsandbox layers:");
    layers_table().print();
    println!("\nguards, as you configured them:");
    guards.table().print();
    println!("\nyour configuration: level {}", configured.level());
    for (name, value) in overridden(&configured) {
        println!("  {} = {}", name.as_str(), name.format(value));
    }
    hint("set a limit with --limit NAME=VALUE, or NAME under [limits] in your configuration");
    Ok(ExitCode::SUCCESS)
}

/// What is looked at beside the walls: the program before it runs, its calls, and what comes back.
struct Guards {
    guardrails: Guardrails,
    policy: Policy,
    /// `None` if nothing is said: then each level has its own.
    privacy: Option<PrivacyMode>,
}

impl Guards {
    fn of(configured: Option<&Configured>) -> Self {
        let Some(Configured { config, .. }) = configured else {
            let (guardrails, policy) = Default::default();
            return Self { guardrails, policy, privacy: None };
        };
        let mode = config.privacy.settings.mode;
        Self {
            guardrails: config.guardrails.settings.clone(),
            policy: Policy::new(config.policy.settings.clone()),
            privacy: (mode != PrivacyMode::of(config.level)).then_some(mode),
        }
    }

    fn table(&self) -> Table {
        let mut table = columns("WHAT");
        let mut row = |name: &str, at: &dyn Fn(Level) -> String| {
            table.row(std::iter::once(name.to_owned()).chain(Level::ALL.map(at)));
        };
        row("programs with a high finding", &|level| self.of_high_findings(level).to_owned());
        row("modules", &|level| self.modules(level));
        row("calls that read", &|level| self.decision(level, Call::Reads).to_string());
        row("calls that write", &|level| self.decision(level, Call::Writes).to_string());
        row("calls that destroy", &|level| self.decision(level, Call::Destroys).to_string());
        row("untrusted + private, then external", &|level| self.policy.flow().decision(level).to_string());
        row("personal data (privacy)", &|level| self.privacy(level).as_str().to_owned());
        table
    }

    fn of_high_findings(&self, level: Level) -> &'static str {
        match (self.guardrails.refuses_high(level), level) {
            (true, _) => "refused",
            (false, Level::Development) => "told",
            (false, Level::Production | Level::Hardened) => "told, recorded",
        }
    }

    fn modules(&self, level: Level) -> String {
        let Guardrails { allowed_modules, denied_modules, .. } =
            self.guardrails.at(level, &self.guardrails.installed);
        match (allowed_modules.len(), denied_modules.len()) {
            (0, 0) => "all".to_owned(),
            (0, denied) => format!("all but {denied}"),
            (allowed, _) => format!("{allowed} allowed"),
        }
    }

    /// What becomes of a call that no rule of yours is about.
    fn decision(&self, level: Level, call: Call) -> Decision {
        let hints = Hints {
            read_only: Some(call == Call::Reads),
            destructive: Some(call == Call::Destroys),
            ..Hints::default()
        };
        let asked = Asked {
            kind: AskedKind::Tool,
            server: "",
            name: "",
            hints,
            arguments: Arguments::none(),
            token: None,
            token_limits: None,
            client: None,
            session: None,
            level,
        };
        let preset = PolicySettings { preset: self.policy.preset(), ..PolicySettings::default() };
        Policy::new(preset).decide(&asked).decided.decision
    }

    fn privacy(&self, level: Level) -> PrivacyMode {
        self.privacy.unwrap_or(PrivacyMode::of(level))
    }

    fn as_json(&self, level: Level) -> Value {
        json!({
            "high_findings_refused": self.guardrails.refuses_high(level),
            "modules": self.modules(level),
            "reads": self.decision(level, Call::Reads),
            "writes": self.decision(level, Call::Writes),
            "destructive": self.decision(level, Call::Destroys),
            "flow": self.policy.flow().decision(level),
            "privacy": self.privacy(level).as_str(),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Reads,
    Writes,
    Destroys,
}

/// What differs from the level's own values.
fn overridden(limits: &Limits) -> Vec<(LimitName, u64)> {
    let defaults = Limits::of(limits.level());
    let all = LimitName::ALL.map(|name| (name, limits.get(name)));
    all.into_iter().filter(|(name, value)| *value != defaults.get(*name)).collect()
}

fn columns(first: &'static str) -> Table {
    let names = std::iter::once(first).chain(Level::ALL.map(Level::as_str));
    Table::new(names.map(Column::left))
}

fn limits_table() -> Table {
    let mut table = columns("NAME");
    for name in LimitName::ALL {
        let at = |level: Level| {
            let limits = Limits::of(level);
            let (least, most) = limits.range(name);
            format!("{} ({} to {})", name.format(limits.get(name)), name.format(least), name.format(most))
        };
        table.row(std::iter::once(name.as_str().to_owned()).chain(Level::ALL.map(at)));
    }
    table
}

fn layers_table() -> Table {
    let mut table = columns("LAYER");
    for wall in all_walls() {
        let at = |level: Level| match required_walls(level).contains(&wall) {
            true => "required".to_owned(),
            false => "if available".to_owned(),
        };
        table.row(std::iter::once(name_of(wall).to_owned()).chain(Level::ALL.map(at)));
    }
    let at = |level: Level| if sandboxes_servers(level) { "on" } else { "if configured" }.to_owned();
    table.row(std::iter::once("sandbox of servers".to_owned()).chain(Level::ALL.map(at)));
    let native = |level: Level| match level {
        Level::Development | Level::Production => format!("tier {}", native_tier(level).to_uppercase()),
        Level::Hardened => format!("tier {}, if configured", native_tier(level).to_uppercase()),
    };
    table.row(std::iter::once("native engine".to_owned()).chain(Level::ALL.map(native)));
    table
}

/// The strictest level wants all that there are.
fn all_walls() -> impl Iterator<Item = Wall> {
    required_walls(Level::Hardened).iter().copied()
}

/// What the native engine needs at least, if nothing is configured; docs/native.md has the tiers.
fn native_tier(level: Level) -> &'static str {
    let needs_namespaces = |wall: &Wall| *wall == Wall::MountNamespace;
    let required = required_walls_of(EngineId::Native, level, false);
    if required.iter().any(needs_namespaces) { "a" } else { "b" }
}

fn sandboxes_servers(level: Level) -> bool {
    Sandboxing::ByLevel.at(level).is_some()
}

fn as_json(configured: &Limits, guards: &Guards) -> Value {
    let level = |level: Level| {
        let limits = Limits::of(level);
        let limit = |name: LimitName| {
            let (least, most) = limits.range(name);
            let default = limits.get(name);
            let text = name.format(default);
            json!({ "name": name.as_str(), "default": default, "min": least, "max": most, "text": text })
        };
        json!({
            "level": level,
            "limits": LimitName::ALL.map(limit),
            "required_layers": required_walls(level).iter().map(|wall| name_of(*wall)).collect::<Vec<_>>(),
            "servers_sandboxed": sandboxes_servers(level),
            "native_tier": native_tier(level),
            "guards": guards.as_json(level),
        })
    };
    let limits = LimitName::ALL.map(|name| (name.as_str().to_owned(), Value::from(configured.get(name))));
    json!({
        "configured": { "level": configured.level(), "limits": Map::from_iter(limits) },
        "levels": Level::ALL.map(level),
    })
}
