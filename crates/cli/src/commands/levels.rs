//! `gristmill levels`: what each isolation level limits and promises.

use std::process::ExitCode;

use clap::Args;
use gristmill_gateway::domain::{Level, LimitName, Limits, Sandboxing};
use gristmill_gateway::{EngineId, Wall, required_walls, required_walls_of};
use serde_json::{Map, Value, json};

use super::Outcome;
use super::doctor::name_of;
use crate::arguments::{ConfigFile, LimitArguments};
use crate::hints::hint;
use crate::table::{Column, Table};
use crate::upstreams;

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
    let (_, configured) = upstreams::read_with_limits(true, &arguments.config, &flags)?;
    if arguments.json {
        println!("{:#}", as_json(&configured));
        return Ok(ExitCode::SUCCESS);
    }
    println!("limits of a program:");
    limits_table().print();
    println!("\nsandbox layers:");
    layers_table().print();
    println!("\nyour configuration: level {}", configured.level());
    for (name, value) in overridden(&configured) {
        println!("  {} = {}", name.as_str(), name.format(value));
    }
    hint("set a limit with --limit NAME=VALUE, or NAME under [limits] in your configuration");
    Ok(ExitCode::SUCCESS)
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

fn as_json(configured: &Limits) -> Value {
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
        })
    };
    let limits = LimitName::ALL.map(|name| (name.as_str().to_owned(), Value::from(configured.get(name))));
    json!({
        "configured": { "level": configured.level(), "limits": Map::from_iter(limits) },
        "levels": Level::ALL.map(level),
    })
}
