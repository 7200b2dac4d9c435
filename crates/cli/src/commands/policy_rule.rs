//! `gristmill policy allow` and `deny`: one rule, written into your own configuration file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::commands::add::{Scope, file_of};
use gristmill_config::edit_policy::{NamedRule, RuleDone, Writing, put_rule};
use gristmill_gateway::domain::policy::Decision;

use super::{Failure, Outcome};
use crate::hints::hint;
use crate::terminal::{eprint_lines, one_line, print_lines};
use crate::upstreams::Configured;

#[derive(Args)]
pub struct RuleArguments {
    /// The tool, as `server.tool`; `*` is anything, as in `crm.get_*`
    pub tool: String,
    /// Only show what would be written
    #[arg(long)]
    pub dry_run: bool,
}

pub fn put(
    configured: &Configured,
    file: Option<PathBuf>,
    arguments: &RuleArguments,
    decision: Decision,
) -> Outcome {
    let (server, tool) = split(configured, &arguments.tool)?;
    let path = file_of(&configured.surroundings, &file.map_or(Scope::User, Scope::File))
        .map_err(|error| Failure::Usage(error.into()))?;
    let rule = NamedRule { server, tool, decision };
    let writing = if arguments.dry_run { Writing::Not } else { Writing::Now };
    let done = put_rule(&path, &rule, writing).map_err(|error| {
        Failure::Usage(anyhow!(
            "{error}\nhint: write this rule before the others:\n{}",
            rule.text().trim_end()
        ))
    })?;
    let shown = path.display();
    match (done, writing) {
        (RuleDone::AsItWas, _) => {
            println!("the first rule in {shown} says so already");
            return Ok(ExitCode::SUCCESS);
        }
        (RuleDone::Added, Writing::Now) => println!("added to {shown}, before your other rules:"),
        (RuleDone::Added, Writing::Not) => println!("would be added to {shown}, before your other rules:"),
        (RuleDone::Changed, Writing::Now) => println!("changed in {shown}:"),
        (RuleDone::Changed, Writing::Not) => println!("would be changed in {shown}:"),
    }
    print_lines(rule.text().trim_end());
    let is_known = configured.config.servers.iter().any(|known| known.settings.name == server);
    if !is_known && !server.contains(['*', '?']) {
        eprint_lines(&format!("note: no server is named `{}`", one_line(server)));
    }
    if writing == Writing::Now {
        hint("a gateway that's running uses it after a restart; `gristmill policy test` explains a call");
    }
    Ok(ExitCode::SUCCESS)
}

/// The server and the tool. A server's name may have a dot in it.
fn split<'a>(configured: &Configured, name: &'a str) -> Result<(&'a str, &'a str), Failure> {
    let known = configured.config.servers.iter().filter_map(|server| {
        let server = server.settings.name.as_str();
        let tool = name.strip_prefix(server)?.strip_prefix('.')?;
        Some((&name[..server.len()], tool))
    });
    let split = known.max_by_key(|(server, _)| server.len()).or_else(|| name.split_once('.'));
    split.filter(|(server, tool)| !server.is_empty() && !tool.is_empty()).ok_or_else(|| {
        Failure::Usage(anyhow!("`{}` must be SERVER.TOOL, such as crm.get_record", one_line(name)))
    })
}
