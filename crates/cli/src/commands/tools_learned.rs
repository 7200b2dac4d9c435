//! `gristmill tools learned`, `learn` and `forget`: what tools' answers look like, where servers don't say.

use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::audit::Audit;
use gristmill_gateway::domain::catalogue::{Server, Tool};
use gristmill_gateway::domain::stubs::{self, Language};
use gristmill_gateway::domain::{counted, grouped, utc_text};
use gristmill_gateway::ids::{Caller, Owner};
use gristmill_gateway::ports::{Asker, CallWatcher, ProgressSink, ToolCall, Writes};
use gristmill_gateway::store::{FILE_NAME, LearnedRecord, Store};
use gristmill_gateway::upstream::{DoorRequest, Snapshot, Startup, Upstreams};
use serde_json::{Map, Value, json};

use super::server_trouble::print_trouble;
use super::{Failure, Outcome};
use crate::audit_log;
use crate::data_store;
use crate::hints::hint;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::privacy::privacy;
use crate::table::{Column, Table};
use crate::terminal::{Printable, confirmed, eprint_lines, one_line, print_json};
use crate::upstreams::Configured;

/// What is shown of a result in a table.
const OUTLINE_CHARS: usize = 200;

/// No server is asked for more at once.
const LEARNED_AT_ONCE_MAX: usize = 50;

/// What was learned, of every owner.
pub async fn list(
    configured: &Configured,
    upstreams: &Upstreams,
    only: Option<&str>,
    times: TimeArguments,
    json: bool,
) -> Outcome {
    let rows = match existing_store(configured)? {
        Some(store) => store.list_learned().await.map_err(data_store::failure)?,
        None => Vec::new(),
    };
    let rows: Vec<LearnedRecord> = rows.into_iter().filter(|row| is_meant(row, only)).collect();
    if let Some(only) = only.filter(|only| rows.is_empty() && !is_configured(configured, only)) {
        return Err(no_server(only));
    }
    if json {
        print_json(&Value::from(rows.iter().map(as_json).collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    print_off(configured);
    if rows.is_empty() {
        eprint_lines("Nothing learned.");
        hint("programs teach it by calling tools; so does `gristmill tools learn SERVER`");
        return Ok(ExitCode::SUCCESS);
    }
    print_table(&rows, &upstreams.snapshot(), times);
    Ok(ExitCode::SUCCESS)
}

/// Whether a name is that of a server, or begins with it, as a tool's does.
fn is_configured(configured: &Configured, name: &str) -> bool {
    let servers = &configured.config.servers;
    servers.iter().any(|server| {
        let rest = name.strip_prefix(server.settings.name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn no_server(name: &str) -> Failure {
    Failure::Usage(anyhow!(
        "there's no server `{}`\nhint: `gristmill list` shows the configured servers",
        one_line(name)
    ))
}

fn is_meant(row: &LearnedRecord, only: Option<&str>) -> bool {
    let whole = || format!("{}.{}", row.server, row.tool);
    only.is_none_or(|only| only == row.server || only == whole())
}

fn as_json(row: &LearnedRecord) -> Value {
    let time = |unix_ms: i64| utc_text(from_unix_ms(unix_ms));
    json!({
        "server": row.server,
        "tool": row.tool,
        "owner": row.owner,
        "definition": row.definition,
        "calls": row.calls,
        "calls_since_change": row.unchanged,
        "first_seen": time(row.first_ms),
        "last_seen": time(row.last_ms),
        "drifts": row.drifts,
        "last_drift": row.drift_ms.map(time),
        "drift": row.drift,
        "schema": row.learned.schema(),
    })
}

fn print_table(rows: &[LearnedRecord], snapshot: &Snapshot, times: TimeArguments) {
    let mut table = Table::new([
        Column::left("TOOL"),
        Column::left("OWNER"),
        Column::right("CALLS"),
        Column::left("LAST SEEN"),
        Column::right("DRIFTS"),
        Column::wrapping("RESULT"),
    ]);
    let is_shared = rows.iter().any(|row| row.owner != Owner::LOCAL);
    for row in rows {
        let owner = Owner(row.owner.clone());
        table.row([
            one_line(&format!("{}.{}", row.server, row.tool)),
            if is_shared { one_line(owner.without_identity()) } else { String::new() },
            grouped(row.calls),
            times.minute(from_unix_ms(row.last_ms)),
            if row.drifts > 0 { grouped(row.drifts) } else { String::new() },
            one_line(&stubs::result_outline(&row.learned.schema(), OUTLINE_CHARS)),
        ]);
        if let Some(at) = row.drift_ms {
            let drift = row.drift.iter().map(|line| one_line(line)).collect::<Vec<_>>().join("; ");
            table.note(format!("changed {}: {drift}", times.minute(from_unix_ms(at))));
        }
        let current = snapshot.catalogue().tool(&row.server, &row.tool);
        if current.is_some_and(|(_, tool)| tool.definition.hash.to_hex() != row.definition) {
            table.note("not shown: the tool's definition has changed since");
        }
    }
    table.print();
}

/// What `learn` needs beside servers: where it is kept, and what is personal.
pub fn prepare(configured: &Configured, startup: &mut Startup) -> Result<Option<Audit>, Failure> {
    if !configured.config.learning.types {
        return Err(Failure::Usage(anyhow!(
            "learning is off\nhint: set `types = true` in the table `learning` of your configuration"
        )));
    }
    let (store, audit) = audit_log::open(configured)?;
    let privacy = privacy(Some(configured), configured.config.level, Some(store.clone()))?;
    startup.learner = configured.learner(Some(&store), &privacy)?;
    startup.privacy = Some(privacy);
    Ok(audit)
}

/// Calls what can be called without arguments and changes nothing, after asking.
pub async fn learn(configured: &Configured, upstreams: &Upstreams, name: &str, yes: bool) -> Outcome {
    if upstreams.check_one(name).await.is_none() {
        return Err(no_server(name));
    }
    let snapshot = upstreams.snapshot();
    let chosen = callable(&snapshot, name);
    if chosen.is_empty() {
        eprint_lines(&format!(
            "{name} has no tool to learn from: one that is marked read-only, needs no arguments and declares no result"
        ));
        print_trouble(upstreams);
        return Ok(ExitCode::SUCCESS);
    }
    for (_, tool) in &chosen {
        println!(
            "{}.{}  {}",
            one_line(name),
            one_line(&tool.definition.name),
            one_line(&tool.definition.summary())
        );
    }
    let question = format!("Call {} of {}?", counted(chosen.len(), "tool"), one_line(name));
    if !yes && !confirmed(&question) {
        eprint_lines("called nothing\nhint: --yes doesn't ask");
        return Ok(crate::exit_codes::usage());
    }
    let mut failed = 0;
    for (server, tool) in &chosen {
        failed += usize::from(!call(upstreams, server, tool).await);
    }
    upstreams.learned().await;
    let learned = upstreams.snapshot_for(&Owner::local()).await;
    for (_, tool) in &chosen {
        if let Some((server, tool)) = learned.catalogue().tool(name, &tool.definition.name)
            && tool.learned.is_some()
        {
            println!("{}", Printable::all(&stubs::signature(Language::Python, server, tool)));
        }
    }
    print_off(configured);
    Ok(if failed == chosen.len() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn callable<'s>(snapshot: &'s Snapshot, name: &str) -> Vec<(&'s Server, &'s Tool)> {
    let servers = snapshot.catalogue().servers.iter().filter(|server| server.offer.name == name);
    let tools = servers.flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
    let is_harmless = |(_, tool): &(&Server, &Tool)| {
        let definition = &tool.definition;
        let needs_nothing = !stubs::parameters(definition).iter().any(|parameter| parameter.is_required);
        definition.read_only == Some(true) && definition.output_schema.is_none() && needs_nothing
    };
    tools.filter(is_harmless).take(LEARNED_AT_ONCE_MAX).collect()
}

/// As anybody calls it: where the policy would ask, nobody answers. Whether it was answered.
async fn call(upstreams: &Upstreams, server: &Server, tool: &Tool) -> bool {
    let request = DoorRequest::CallTool(ToolCall {
        name: format!("{}.{}", server.folder, tool.stem),
        arguments: Map::new(),
        progress: ProgressSink::default(),
        asker: Asker::none(),
        watcher: CallWatcher::none(),
        writes: Writes::Sent,
    });
    match upstreams.pass(&Caller::local(), request).await {
        Ok(_) => true,
        Err(failure) => {
            let name = one_line(&format!("{}.{}", server.offer.name, tool.definition.name));
            let text = Printable::all(&failure.to_string());
            eprint_lines(&format!("{name}: error[{}]: {text}", failure.code()));
            false
        }
    }
}

/// Wipes what was learned, of every owner.
pub async fn forget(configured: &Configured, server: Option<&str>) -> Outcome {
    let forgotten = match existing_store(configured)? {
        Some(store) => store.forget_learned(server).await.map_err(data_store::failure)?,
        None => 0,
    };
    // One that isn't configured any more may have taught something.
    if let Some(server) = server.filter(|server| forgotten == 0 && !is_configured(configured, server)) {
        return Err(no_server(server));
    }
    match (forgotten, server) {
        (0, Some(server)) => eprint_lines(&format!("nothing was learned from {}", one_line(server))),
        (0, None) => eprint_lines("nothing was learned"),
        (_, _) => eprint_lines(&format!("forgot what {} answered", counted(forgotten, "tool"))),
    }
    Ok(ExitCode::SUCCESS)
}

/// A database is not made to find nothing in it.
fn existing_store(configured: &Configured) -> Result<Option<Store>, Failure> {
    let folder = configured.data_folder()?;
    if !folder.join(FILE_NAME).exists() {
        return Ok(None);
    }
    Store::open(&folder).map(Some).map_err(data_store::failure)
}

fn print_off(configured: &Configured) {
    if !configured.config.learning.types {
        eprint_lines("note: learning is off, and what was learned isn't shown to programs");
    }
}
