//! `gristmill tools …`: what the connected servers offer, as a program sees it.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use gristmill_config::Flags;
use gristmill_gateway::audit::Audit;
use gristmill_gateway::domain::catalogue::{Reserved, ReservedName, Resolved, Server};
use gristmill_gateway::domain::{counted, stubs, visible_json};
use gristmill_gateway::ids::{Caller, Owner};
use gristmill_gateway::ports::{
    CallWatcher, ProgressSink, ToolCall, ToolFailure, ToolSearch, ToolSource, Writes,
};
use gristmill_gateway::skills::Skills;
use gristmill_gateway::upstream::{DoorRequest, Refresh, Startup, Upstreams};
use serde_json::{Map, Value, json};

use super::run_questions::asker_of_a_typed_call;
use super::server_trouble::{ask_all, print_trouble};
use super::tools_review::{self, Approval};
use super::{Failure, Outcome, tool_answer, tools_learned};
use crate::arguments::{Tools, ToolsCommand, ToolsFormat};
use crate::audit_log;
use crate::exit_codes;
use crate::given_json::given_json;
use crate::skill_folders;
use crate::spinner::Spinner;
use crate::terminal::{Printable, columns, eprint_lines, one_line, print_json, set_in, wrapped};
use crate::upstreams;

/// No call has more arguments than this, as JSON.
const ARGUMENTS_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub async fn tools(arguments: Tools) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let usable = configured.usable();
    let (mut audit, mut startup) = (None, Startup::from(Refresh::WhenUsed));
    match &arguments.command {
        ToolsCommand::Call { .. } => audit = audit_log::open_or_warn(&configured),
        ToolsCommand::Learn { .. } => audit = tools_learned::prepare(&configured, &mut startup)?,
        ToolsCommand::Search { .. } | ToolsCommand::Show { .. } => {
            startup.learner = configured.learned_types();
        }
        ToolsCommand::Learned { .. } | ToolsCommand::Forget { .. } => startup.refresh = Refresh::Never,
        ToolsCommand::List { .. } | ToolsCommand::Review { .. } => {}
    }
    startup.observer = audit.as_ref().map(Audit::observer);
    startup.audit = audit.as_ref().map(Audit::log);
    let upstreams = configured.connect(&usable, startup)?;
    let outcome = match arguments.command {
        ToolsCommand::List { server, refresh, json } => {
            if refresh {
                ask_all(&upstreams).await;
            }
            list(&upstreams, server.as_deref(), json).await
        }
        ToolsCommand::Search { query, server, category, detail, limit, offset, refresh, json } => {
            if refresh {
                ask_all(&upstreams).await;
            }
            let search = ToolSearch {
                query: query.join(" "),
                server,
                category,
                detail: Some(detail),
                limit: Some(limit),
                offset: Some(offset),
                line: None,
                with_nearness: false,
            };
            let skills = skill_folders::open(&configured.data_folder()?, &configured.surroundings)?;
            search_tools(&upstreams, &skills, &search, json).await
        }
        ToolsCommand::Show { name, format } => show(&upstreams, &name, format).await,
        ToolsCommand::Call { name, arguments, output, json } => {
            let printed = Printed { output, json };
            call(&upstreams, name, arguments, printed).await
        }
        ToolsCommand::Review { server, approve, only, yes, json } => {
            let approval = approve.then_some(Approval { only, yes });
            let note = |event| audit_log::note(&configured, event);
            tools_review::review(&upstreams, server.as_deref(), approval, json, &note).await
        }
        ToolsCommand::Learned { name, times, json } => {
            tools_learned::list(&configured, &upstreams, name.as_deref(), times, json).await
        }
        ToolsCommand::Learn { server, yes } => {
            tools_learned::learn(&configured, &upstreams, &server, yes).await
        }
        ToolsCommand::Forget { server, all: _ } => {
            tools_learned::forget(&configured, server.as_deref()).await
        }
    };
    upstreams.close().await;
    if let Some(audit) = audit {
        audit_log::finish(&audit).await;
    }
    outcome
}

async fn list(upstreams: &Upstreams, only: Option<&str>, json: bool) -> Outcome {
    upstreams.known_soon().await;
    let snapshot = upstreams.snapshot();
    let catalogue = snapshot.catalogue();
    let wanted = |name: &str, folder: &str| only.is_none_or(|only| only == name || only == folder);
    let servers: Vec<_> =
        catalogue.servers.iter().filter(|server| wanted(&server.offer.name, &server.folder)).collect();
    if let (Some(only), true) = (only, servers.is_empty()) {
        let known = catalogue.servers.iter().map(|server| (server.folder.as_str(), server.folder.as_str()));
        let nearest = gristmill_gateway::domain::nearest(only, known, 1);
        let hint = nearest.first().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        return Err(Failure::Usage(anyhow!("there's no server `{only}`{hint}")));
    }
    if json {
        let tools = servers.iter().flat_map(|server| {
            server.tools.iter().map(|tool| {
                json!({
                    "server": server.offer.name,
                    "tool": format!("{}.{}", server.folder, tool.stem),
                    "name": tool.definition.name,
                    "summary": tool.definition.summary(),
                    "hash": tool.definition.hash.to_hex(),
                })
            })
        });
        print_json(&Value::from(tools.collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    for server in &servers {
        println!("{} ({})", server.folder, counted(server.tools.len(), "tool"));
        let width = columns(std::io::stdout());
        for tool in &server.tools {
            print_tool(&tool.stem, &one_line(&tool.definition.summary()), width);
        }
    }
    if servers.is_empty() {
        eprint_lines("no servers are connected\nhint: gristmill add NAME COMMAND…, then gristmill list");
    }
    print_trouble(upstreams);
    Ok(ExitCode::SUCCESS)
}

/// A tool and what it does, beside each other where there's room.
fn print_tool(name: &str, summary: &str, width: Option<usize>) {
    const NAME_WIDTH: usize = 32;
    let Some(width) = width else {
        println!("  {name:<NAME_WIDTH$} {summary}");
        return;
    };
    let room = width.saturating_sub(NAME_WIDTH + 3);
    if room >= NAME_WIDTH {
        let mut lines = wrapped(summary, room).into_iter();
        println!("  {name:<NAME_WIDTH$} {}", lines.next().unwrap_or_default());
        lines.for_each(|line| println!("{:1$}{line}", "", NAME_WIDTH + 3));
    } else {
        println!("  {name}");
        wrapped(summary, width.saturating_sub(4)).iter().for_each(|line| println!("    {line}"));
    }
}

async fn search_tools(upstreams: &Upstreams, skills: &Skills, search: &ToolSearch, json: bool) -> Outcome {
    upstreams.known_soon().await;
    let snapshot = upstreams.snapshot_for(&Owner::local()).await;
    let view = skills.look_again().await;
    let answer = snapshot
        .search(&Owner::local(), search, view.offer())
        .await
        .map_err(|error| Failure::Usage(error.into()))?;
    match json {
        true => {
            let hits = answer.hits.iter().map(|hit| {
                json!({ "tool": hit.tool, "signature": hit.signature, "summary": hit.summary, "score": hit.score })
            });
            let hits: Vec<Value> = hits.collect();
            print_json(&json!({ "shown": answer.shown, "total": answer.total, "hits": hits }));
        }
        false => println!("{}", Printable::all(&snapshot.rendered(&answer))),
    }
    print_trouble(upstreams);
    // The process ends with this: nobody needs the room of thousands of definitions, which takes a while to give back.
    std::mem::forget(snapshot);
    Ok(ExitCode::SUCCESS)
}

async fn show(upstreams: &Upstreams, name: &str, format: ToolsFormat) -> Outcome {
    upstreams.known_soon().await;
    let snapshot = upstreams.snapshot_for(&Owner::local()).await;
    let (server, tool) = match snapshot.lookup().resolve(name) {
        Resolved::One(server, tool) => (server, tool),
        Resolved::Several(names) => {
            let error = ToolFailure::Ambiguous { name: name.to_owned(), candidates: names };
            return Err(Failure::Usage(anyhow!("{error}")));
        }
        Resolved::Reserved(server, tool) => return Err(Failure::Usage(not_shown(server, tool))),
        Resolved::None(nearest) => {
            let words = unknown_words(upstreams, name, &nearest);
            return Err(Failure::Usage(anyhow!("{words}")));
        }
    };
    let text = match format {
        ToolsFormat::Python => stubs::python(server, tool),
        ToolsFormat::Typescript => stubs::typescript(server, tool),
        ToolsFormat::Json => {
            let value: Value = serde_json::from_str(&tool.definition.raw).unwrap_or_default();
            format!("{}\n", visible_json(&format!("{value:#}")))
        }
    };
    print!("{}", Printable::all(&text));
    Ok(ExitCode::SUCCESS)
}

/// What is said of a name that is no tool's, with what helps at a shell.
fn unknown_words(upstreams: &Upstreams, name: &str, nearest: &[String]) -> String {
    let snapshot = upstreams.snapshot();
    let is_named = |server: &Server| server.offer.name == name || server.folder == name;
    let is_server = snapshot.catalogue().servers.iter().any(is_named);
    let shown = one_line(name);
    match nearest {
        _ if is_server => {
            format!("`{shown}` is a server, not a tool\nhint: `gristmill tools list {shown}` lists its tools")
        }
        [] => format!("there is no tool `{shown}`\nhint: `gristmill tools search WORDS…` finds tools"),
        names => {
            let names: Vec<String> = names.iter().map(|name| one_line(name)).collect();
            format!("there is no tool `{shown}`; did you mean {}?", names.join(", "))
        }
    }
}

/// Why a tool has no stub now.
fn not_shown(server: &Server, tool: &ReservedName) -> anyhow::Error {
    let (name, tool_name) = (one_line(&server.offer.name), one_line(&tool.name));
    match tool.why {
        Reserved::HeldBack | Reserved::New => anyhow!(
            "{name}.{tool_name} is held back until you approve it\nhint: gristmill tools review {name}"
        ),
        Reserved::NotReached => anyhow!("{name} is down\nhint: gristmill list shows why"),
        Reserved::OutOfUse => anyhow!("{name} isn't in use\nhint: gristmill list shows why"),
        Reserved::Excluded | Reserved::NotIncluded => anyhow!(
            "{name}.{tool_name} is excluded by `tools` of the server\nhint: gristmill get {name} shows it"
        ),
    }
}

/// What becomes of an answer.
struct Printed {
    /// Where its files are saved; none if it is printed.
    output: Option<PathBuf>,
    json: bool,
}

async fn call(upstreams: &Upstreams, name: String, arguments: Vec<String>, printed: Printed) -> Outcome {
    if let Some(output) = &printed.output {
        tool_answer::check_free(output)?;
    }
    let spinner = Spinner::start(format!("calling {} …", one_line(&name)));
    upstreams.known_soon().await;
    let snapshot = upstreams.snapshot();
    let schema = match snapshot.lookup().resolve(&name) {
        Resolved::One(_, tool) => tool.definition.input_schema.clone(),
        Resolved::Reserved(..) | Resolved::Several(_) | Resolved::None(_) => Value::Null,
    };
    let arguments = arguments_from(arguments, &schema).map_err(Failure::Usage)?;
    let request = DoorRequest::CallTool(ToolCall {
        progress: progress(&name, &spinner),
        name,
        arguments,
        asker: asker_of_a_typed_call(),
        watcher: CallWatcher::none(),
        writes: Writes::Sent,
    });
    let answered = upstreams.pass(&Caller::local(), request).await;
    drop(spinner);
    match answered {
        Ok(answer) => {
            match &printed.output {
                Some(output) => tool_answer::save(&answer, output, printed.json)?,
                None => tool_answer::print(&answer, printed.json)
                    .map_err(|error| Failure::Internal(error.into()))?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            let words = if let ToolFailure::Unknown { name, nearest } = &failure {
                unknown_words(upstreams, name, nearest)
            } else {
                set_in(&failure.to_string())
            };
            eprint_lines(&format!("error[{}]: {words}", failure.code()));
            Ok(exit_codes::of_a_tool(&failure))
        }
    }
}

/// How far a call has come: on one line of a terminal, or line by line.
fn progress(name: &str, spinner: &Spinner) -> ProgressSink {
    let (line, name) = (spinner.text(), one_line(name));
    ProgressSink::new(move |progress| {
        let total = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let message = progress.message.map(|text| format!(": {}", one_line(&text))).unwrap_or_default();
        let text = format!("{}{total}{message}", progress.progress);
        match &line {
            Some(line) => line.set(format!("{name} {text}")),
            None => eprintln!("{text}"),
        }
    })
}

/// `NAME=VALUE` pairs, one JSON object, or `-` for an object on standard input. A value is JSON if it
/// reads as JSON, unless the tool wants text there.
fn arguments_from(words: Vec<String>, schema: &Value) -> anyhow::Result<Map<String, Value>> {
    let object = |text: &str| match given_json(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => bail!("arguments must be a JSON object"),
        Err(error) => bail!("arguments aren't valid JSON: {error:#}"),
    };
    match words.as_slice() {
        [only] if only == "-" => {
            let mut text = String::new();
            std::io::stdin().take(ARGUMENTS_BYTES_MAX).read_to_string(&mut text)?;
            object(&text)
        }
        [only] if only.trim_start().starts_with('{') => object(only),
        pairs => {
            let pairs = pairs.iter().map(|pair| {
                let (name, value) = pair.split_once('=').ok_or_else(|| {
                    anyhow!("`{pair}` must be NAME=VALUE, such as city=Paris; or pass one JSON object")
                })?;
                let is_text = schema["properties"][name]["type"] == "string";
                let value = match given_json(value) {
                    Ok(parsed) if !is_text => parsed,
                    Ok(_) | Err(_) => Value::from(value),
                };
                Ok((name.to_owned(), value))
            });
            pairs.collect()
        }
    }
}
