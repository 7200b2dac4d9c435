//! `gristmill demo`: the classic job on real MCP servers, and what it saved.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::serve_table::ServeConfig;
use gristmill_example_servers::DEMO_PROGRAM as PROGRAM;
use gristmill_gateway::domain::catalogue::{Lookup, Server, Tool, ToolDefinition};
use gristmill_gateway::domain::policy::Decision;
use gristmill_gateway::domain::validate::ArgumentCheck;
use gristmill_gateway::domain::{Accept, Level, Limits, ServerSettings, ToolAnswer, counted, grouped};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{
    BoxFuture, CallWatcher, DefinitionTokens, Needed, SkillOffer, ToolCall, ToolFailure, ToolSearch,
    ToolSource, Tools,
};
use gristmill_gateway::upstream::{Refresh, Upstreams};
use gristmill_gateway::{Event, ExecuteRequest, Folders, Gateway, Report, WorkerCommand, tokens};
use gristmill_mcp::{Profile, ServerLine, standing_tokens};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{Failure, Outcome};
use crate::spinner::Spinner;
use crate::{exit_codes, upstreams};

#[derive(Args)]
pub struct Demo {
    /// Print the report and the token counts as JSON
    #[arg(long)]
    pub json: bool,
}

/// The question that a person might ask.
const QUESTION: &str = "Attach the transcript of yesterday's planning meeting to its record in the CRM. \
                        Which urgent tickets are open for the customers named in it?";

/// Served by this very binary.
const SERVERS: [&str; 3] = ["crm", "database", "documents"];

pub async fn demo(arguments: Demo) -> Outcome {
    let upstreams = connect()?;
    run(arguments, upstreams).await.map_err(Failure::Internal)
}

/// The example servers, started as any other server is.
fn connect() -> Result<Upstreams, Failure> {
    let folders = Folders::from_environment().map_err(|error| Failure::Internal(error.into()))?;
    let binary = std::env::current_exe().map_err(|error| Failure::Internal(error.into()))?;
    let settings = SERVERS.map(|name| ServerSettings {
        // They are ours, and change with us.
        accept: Accept::Everything,
        ..ServerSettings::program(name, binary.to_string_lossy(), &["example-server", name])
    });
    upstreams::connect(
        settings.to_vec(),
        HashMap::new(),
        folders.cache.join("demo"),
        Vec::new(),
        Refresh::InBackground,
    )
}

async fn run(arguments: Demo, upstreams: Upstreams) -> anyhow::Result<std::process::ExitCode> {
    let seen = Arc::new(Seen::default());
    let source = Arc::new(Watched { upstreams: upstreams.clone(), seen: Arc::clone(&seen) });
    let gateway = Gateway::builder(WorkerCommand::this_executable()?).tool_source(source).build().await?;
    let spinner = Spinner::start("starting the sandbox and three example servers …");
    gateway.ready().await.map_err(|reason| anyhow!(reason))?;
    upstreams.known().await;
    drop(spinner);
    if !arguments.json {
        println!("You ask your agent: {QUESTION}");
        println!("It writes this program:\n");
        for line in PROGRAM.trim_end().lines() {
            println!("  │ {line}");
        }
        println!("\nGristmill runs it in a sandboxed process:\n");
    }
    let started = Instant::now();
    let mut execution = gateway.execute(patient(ExecuteRequest::python(PROGRAM))?);
    while let Some(event) = execution.next_event().await {
        if let (Event::Output { bytes, .. }, false) = (event, arguments.json) {
            print!("{}", String::from_utf8_lossy(&bytes));
        }
    }
    let report = execution.finish().await;
    let took = started.elapsed();
    let table = TokenTable::of(&report, &upstreams, &seen);
    gateway.shutdown().await;
    match arguments.json {
        true => println!("{:#}", json!({ "report": report, "tokens": table.json() })),
        false => print(&report, &table, took),
    }
    Ok(exit_codes::of(&report))
}

/// Of two seconds on a good day: a first look at us must not fail because the machine is busy.
fn patient(mut request: ExecuteRequest) -> anyhow::Result<ExecuteRequest> {
    let mut limits = Limits::of(Level::default());
    for name in ["wall_time", "cpu_time"] {
        limits.set_text(name, "60s")?;
    }
    request.limits = Some(limits);
    Ok(request)
}

/// What went through the calls, for counting afterwards.
#[derive(Default)]
struct Seen {
    arguments: Mutex<Vec<String>>,
    answers: Mutex<Vec<String>>,
}

impl Seen {
    fn tokens(texts: &Mutex<Vec<String>>) -> usize {
        let texts = texts.lock();
        texts.iter().map(|text| tokens::count(text)).sum()
    }
}

/// The servers, with every call noted down.
struct Watched {
    upstreams: Upstreams,
    seen: Arc<Seen>,
}

impl ToolSource for Watched {
    fn freeze<'a>(&'a self, caller: Option<&'a Caller>, needed: Needed<'a>) -> BoxFuture<'a, Arc<dyn Tools>> {
        Box::pin(async move {
            let tools = self.upstreams.freeze(caller, needed).await;
            let watched: Arc<dyn Tools> = Arc::new(WatchedTools { tools, seen: Arc::clone(&self.seen) });
            watched
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.upstreams.close()
    }
}

struct WatchedTools {
    tools: Arc<dyn Tools>,
    seen: Arc<Seen>,
}

impl Tools for WatchedTools {
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        call: ToolCall,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async move {
            let arguments = Value::from(call.arguments.clone()).to_string();
            self.seen.arguments.lock().push(arguments);
            let answer = self.tools.call(caller, call).await?;
            self.seen.answers.lock().push(answer.json.clone());
            Ok(answer)
        })
    }

    fn read_resource<'a>(
        &'a self,
        caller: &'a Caller,
        uri: &'a str,
        watcher: CallWatcher,
    ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
        self.tools.read_resource(caller, uri, watcher)
    }

    fn search<'a>(
        &'a self,
        caller: &'a Caller,
        search: &'a ToolSearch,
        skills: &'a SkillOffer,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        self.tools.search(caller, search, skills)
    }

    fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
        self.tools.definition_tokens(name)
    }

    fn lookup(&self) -> Option<&Lookup> {
        self.tools.lookup()
    }

    fn is_certainly_unknown(&self, server: Option<&str>, tool: Option<&str>) -> bool {
        self.tools.is_certainly_unknown(server, tool)
    }

    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        self.tools.argument_check(server, tool)
    }

    fn decision_about(&self, caller: &Caller, server: &Server, tool: &Tool) -> Decision {
        self.tools.decision_about(caller, server, tool)
    }

    fn is_shown(&self, server: &Server, tool: &Tool) -> bool {
        self.tools.is_shown(server, tool)
    }

    fn holds_writes(&self) -> bool {
        self.tools.holds_writes()
    }

    fn tree(&self) -> Option<&std::path::Path> {
        self.tools.tree()
    }
}

fn print(report: &Report, table: &TokenTable, took: std::time::Duration) {
    match &report.result {
        Some(Value::String(text)) => println!("\nThe agent gets this back:\n{text}"),
        Some(result) => println!("\nThe agent gets this back: {result:#}"),
        None => {}
    }
    if let Some(error) = &report.error {
        println!("\nerror[{}]: {}", error.code, error.message);
    }
    println!("\nTool calls:");
    for (name, calls, time_ms) in by_tool(report) {
        println!("  {name:<24} {:>10} {time_ms:>9.1} ms", counted(calls, "call"));
    }
    println!(
        "\nTime: {:.1} ms, {:.1} ms of it in the program; memory: {} MB",
        took.as_secs_f64() * 1000.0,
        report.execution_time_ms,
        report.memory_peak_bytes >> 20
    );
    println!("\nTokens in the model's context          direct calls   through Gristmill");
    println!(
        "  tool definitions                  {:>15}   {:>17}",
        grouped(table.definitions as u64),
        grouped(table.own_definitions as u64)
    );
    println!("  tool arguments                    {:>15}   {:>17}", grouped(table.arguments as u64), "-");
    println!("  tool results                      {:>15}   {:>17}", grouped(table.results as u64), "-");
    println!("  program                           {:>15}   {:>17}", "-", grouped(table.program as u64));
    println!("  result                            {:>15}   {:>17}", "-", grouped(table.returned as u64));
    println!(
        "  total                             {:>15}   {:>17}",
        grouped(table.direct() as u64),
        grouped(table.milled() as u64)
    );
    println!("  saved                             {:>35}", format!("{:.1} %", table.saved_percent()));
    println!(
        "\nNext: connect your agent with `gristmill connect`, or add a server with `gristmill add NAME COMMAND…`."
    );
}

/// What the same calls would cost in a model's context, and what they cost this way.
struct TokenTable {
    /// Of all tools of the servers, as a model is sent them.
    definitions: usize,
    /// Of our tools, which an agent has in their place.
    own_definitions: usize,
    arguments: usize,
    results: usize,
    program: usize,
    returned: usize,
}

impl TokenTable {
    fn of(report: &Report, upstreams: &Upstreams, seen: &Seen) -> Self {
        let result = report.result.as_ref().map(|result| result.to_string()).unwrap_or_default();
        let snapshot = upstreams.snapshot();
        let definitions = snapshot.catalogue().servers.iter().flat_map(|server| &server.tools);
        Self {
            definitions: definitions.map(|tool| shown_tokens(&tool.definition)).sum(),
            own_definitions: Profile::default().definition_tokens() as usize + told_tokens(upstreams),
            arguments: Seen::tokens(&seen.arguments),
            results: Seen::tokens(&seen.answers),
            program: tokens::count(PROGRAM),
            returned: tokens::count(&report.stdout) + tokens::count(&result),
        }
    }

    fn direct(&self) -> usize {
        self.definitions + self.arguments + self.results
    }

    fn milled(&self) -> usize {
        self.own_definitions + self.program + self.returned
    }

    fn saved_percent(&self) -> f64 {
        100.0 * (1.0 - self.milled() as f64 / self.direct().max(1) as f64)
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "definitions": self.definitions,
            "own_definitions": self.own_definitions,
            "arguments": self.arguments,
            "results": self.results,
            "program": self.program,
            "returned": self.returned,
            "direct": self.direct(),
            "milled": self.milled(),
            "saved_percent": self.saved_percent(),
        })
    }
}

/// What our tools tell of the servers' tools, for a client that uses nothing but defaults.
fn told_tokens(upstreams: &Upstreams) -> usize {
    let snapshot = upstreams.snapshot();
    let line = |server: &Server| ServerLine { name: server.offer.name.clone(), description: None };
    let servers: Vec<ServerLine> = snapshot.catalogue().servers.iter().map(line).collect();
    let tokens_max = ServeConfig::default().signature_tokens;
    standing_tokens(upstreams, &servers, usize::try_from(tokens_max).unwrap_or_default())
}

/// Of what a model is sent of a definition.
fn shown_tokens(tool: &ToolDefinition) -> usize {
    let (tokens, _) = tokens::count_definition(&tool.name, tool.description.as_deref(), &tool.input_schema);
    tokens
}

/// Calls and time of each tool, in the order of first use.
fn by_tool(report: &Report) -> Vec<(String, usize, f64)> {
    let mut tools: Vec<(String, usize, f64)> = Vec::new();
    for call in &report.tools_called {
        match tools.iter_mut().find(|(name, ..)| *name == call.name) {
            Some((_, calls, time_ms)) => {
                *calls += 1;
                *time_ms += call.time_ms;
            }
            None => tools.push((call.name.clone(), 1, call.time_ms)),
        }
    }
    tools
}
