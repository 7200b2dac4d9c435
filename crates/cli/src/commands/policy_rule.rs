//! `gristmill policy allow` and `deny`: one rule, written into your own configuration file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::commands::add::{Scope, file_of};
use gristmill_config::edit_policy::{NamedRule, RuleDone, Writing, put_rule};
use gristmill_gateway::audit::{AuditEvent, ConfigChange};
use gristmill_gateway::domain::catalogue::{Resolved, folds_alike};
use gristmill_gateway::domain::policy::Decision;
use gristmill_gateway::ports::ToolSource;
use gristmill_gateway::upstream::Refresh;

use super::{Failure, Outcome};
use crate::audit_log;
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

pub async fn put(
    configured: &Configured,
    file: Option<PathBuf>,
    arguments: &RuleArguments,
    decision: Decision,
) -> Outcome {
    let (server, tool) = split(configured, &arguments.tool)?;
    let meant = Meant::find(configured, server, tool).await?;
    let (server, tool) = (meant.server.as_str(), meant.tool.as_str());
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
    let what = match done {
        RuleDone::Added => Some(ConfigChange::RuleAdded),
        RuleDone::Changed => Some(ConfigChange::RuleChanged),
        RuleDone::AsItWas => None,
    };
    if let Some(what) = what.filter(|_| writing == Writing::Now) {
        let event = AuditEvent::config_changed(what, &shown.to_string());
        audit_log::note(configured, event.of_rule(server, tool, decision.as_str()));
    }
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
    if let Some(note) = &meant.note {
        eprint_lines(&format!("note: {note}"));
    }
    if writing == Writing::Now {
        hint("a gateway that's running uses it after a restart; `gristmill policy test` explains a call");
    }
    Ok(ExitCode::SUCCESS)
}

/// What a rule is about, by the names that it must have to fit.
struct Meant {
    server: String,
    tool: String,
    /// What the person should know who wrote the rule.
    note: Option<String>,
}

impl Meant {
    /// As far as is known without asking any server. Patterns stay as they are.
    async fn find(configured: &Configured, server: &str, tool: &str) -> Result<Self, Failure> {
        let is_pattern = |name: &str| name.contains(['*', '?']);
        let as_written = |note| Self { server: server.to_owned(), tool: tool.to_owned(), note };
        if is_pattern(server) {
            return Ok(as_written(None));
        }
        let names = || configured.config.servers.iter().map(|known| known.settings.name.as_str());
        let own_name = names().find(|name| *name == server).or_else(|| {
            let mut alike = names().filter(|name| folds_alike(name, server));
            alike.next().filter(|_| alike.next().is_none())
        });
        let Some(own_name) = own_name else {
            return Ok(as_written(Some(configured.no_such_server(server))));
        };
        let mut meant = Self { server: own_name.to_owned(), ..as_written(None) };
        if is_pattern(tool) {
            return Ok(meant);
        }
        let upstreams = configured.connect(&configured.usable(), Refresh::Never)?;
        let snapshot = upstreams.snapshot();
        let mut servers = snapshot.catalogue().all_servers();
        let has_tools = servers.any(|server| server.offer.name == own_name && !server.tools.is_empty());
        match snapshot.lookup().resolve(&format!("{own_name}.{tool}")) {
            Resolved::One(_, found) => meant.tool.clone_from(&found.definition.name),
            Resolved::Reserved(_, reserved) => meant.tool.clone_from(&reserved.name),
            Resolved::None(nearest) if has_tools => {
                let (server, tool) = (one_line(own_name), one_line(tool));
                let like = nearest.first().map(|name| format!("; did you mean {}?", one_line(name)));
                let like = like.unwrap_or_default();
                meant.note = Some(format!("`{server}` has no tool `{tool}`{like}"));
            }
            Resolved::Several(_) | Resolved::None(_) => {}
        }
        ToolSource::close(&upstreams).await;
        Ok(meant)
    }
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
