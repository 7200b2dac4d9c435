//! `gristmill policy`: which calls are allowed, and why.

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::{ConfiguredServer, Flags};
use gristmill_gateway::access::{AccessTokens, TokenRecord};
use gristmill_gateway::domain::Level;
use gristmill_gateway::domain::catalogue::Resolved;
use gristmill_gateway::domain::policy::{
    Arguments, Asked, AskedKind, Decided, Decision, Explained, Hints, Line, Mark, Outcome as Fit, Policy,
    Seen,
};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::upstream::{AlwaysApproval, AlwaysApprovals, Refresh};
use serde_json::{Value, json};

use super::policy_rule::{self, RuleArguments};
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::given_json::given_json;
use crate::hints::hint;
use crate::table::{Column, Table};
use crate::terminal::{eprint_lines, one_line, print_lines};
use crate::upstreams::{self, Configured};

#[derive(Args)]
pub struct PolicyArguments {
    #[command(subcommand)]
    pub command: PolicyCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum PolicyCommand {
    /// Show every rule in order, and where it comes from
    Show {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a rule to your configuration that allows a tool without asking
    Allow(RuleArguments),
    /// Add a rule to your configuration that refuses a tool
    Deny(RuleArguments),
    /// Explain line by line what happens to a call; nothing is called
    Test {
        /// The tool, as `server.tool`
        tool: String,
        /// Its arguments, as a JSON object
        #[arg(default_value = "{}")]
        arguments: String,
        /// As the caller with this access token
        #[arg(long = "as", value_name = "TOKEN")]
        token: Option<String>,
        /// As a client with this name
        #[arg(long)]
        client: Option<String>,
        /// In the session with this name
        #[arg(long)]
        session: Option<String>,
        /// At this isolation level [default: the configured one]
        #[arg(long)]
        level: Option<Level>,
        /// As if untrusted and private data had been read
        #[arg(long)]
        read_both: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn policy(arguments: PolicyArguments) -> Outcome {
    let file = arguments.config.config.clone();
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let policy = Policy::new(configured.config.policy.settings.clone());
    match arguments.command {
        PolicyCommand::Show { json } => show(&configured, &policy, json),
        PolicyCommand::Allow(rule) => policy_rule::put(&configured, file, &rule, Decision::Allow).await,
        PolicyCommand::Deny(rule) => policy_rule::put(&configured, file, &rule, Decision::Deny).await,
        PolicyCommand::Test { tool, arguments, token, client, session, level, read_both, json } => {
            let tested = Tested::find(&configured, &tool, arguments, token, client, session).await?;
            let tested = Tested { level: level.unwrap_or(tested.level), ..tested };
            tested.explain(&configured, &policy, read_both, json)
        }
    }
}

fn show(configured: &Configured, policy: &Policy, as_json: bool) -> Outcome {
    let always = AlwaysApprovals::open(&configured.data_folder()?);
    let always = always.current().map_err(|error| Failure::Usage(error.into()))?;
    if as_json {
        let lines: Vec<Value> = policy.lines().map(line_as_json).collect();
        let flow = policy.flow();
        println!(
            "{:#}",
            json!({
                "preset": policy.preset().as_str(),
                "rules": lines,
                "flow": { "decision": flow.decision(configured.config.level), "origin": flow.origin() },
                "marks": marks_as_json(configured),
                "always": *always,
            })
        );
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([
        Column::right("#"),
        Column::left("DECISION"),
        Column::wrapping("APPLIES TO"),
        Column::wrapping("WHY"),
        Column::wrapping("FROM"),
    ]);
    for (index, line) in policy.lines().enumerate() {
        let why = line.rule.reason.as_deref().or(line.rule.name.as_deref()).unwrap_or_default();
        table.row([
            (index + 1).to_string(),
            decision_words(line),
            one_line(&line.rule.words()),
            one_line(why),
            one_line(&line.origin),
        ]);
    }
    table.print();
    print_flow(configured, policy);
    for approval in always.iter() {
        let AlwaysApproval { rule, server, tool, .. } = approval;
        print_lines(&format!("always allowed: {server}.{tool}, though the rule `{rule}` asks"));
    }
    hint("`gristmill policy test SERVER.TOOL '{}'` explains one call");
    Ok(ExitCode::SUCCESS)
}

/// What is said about marked servers, and which those are.
fn print_flow(configured: &Configured, policy: &Policy) {
    let flow = policy.flow();
    let decision = flow.decision(configured.config.level);
    print_lines(&format!(
        "flow: {decision} before anything is sent to an external server, once a session has read untrusted and private data ({})",
        one_line(flow.origin())
    ));
    for server in configured.usable() {
        let marks: Vec<&str> = server.settings.marks.iter().map(Mark::as_str).collect();
        if !marks.is_empty() {
            print_lines(&format!("marks: {} is {}", one_line(&server.settings.name), marks.join(", ")));
        }
    }
}

fn marks_as_json(configured: &Configured) -> Value {
    let marked = configured.usable().into_iter().filter(|server| !server.settings.marks.is_empty());
    let marks = |server: &ConfiguredServer| {
        let marks: Vec<&str> = server.settings.marks.iter().map(Mark::as_str).collect();
        (server.settings.name.clone(), json!(marks))
    };
    Value::Object(marked.map(marks).collect())
}

/// `deny`, `ask`, `max 5 a minute`.
fn decision_words(line: &Line) -> String {
    let budgets = line.budgets();
    let spans = [
        (budgets.calls_per_minute, "a minute"),
        (budgets.calls_per_execution, "a program"),
        (budgets.calls_per_day, "a day"),
    ];
    let mut words: Vec<String> = line.rule.decision.iter().map(ToString::to_string).collect();
    words.extend(spans.into_iter().filter_map(|(max, span)| Some(format!("max {} {span}", max?))));
    words.join(", ")
}

fn line_as_json(line: &Line) -> Value {
    let budgets = line.budgets();
    json!({
        "rule": &*line.id,
        "applies_to": line.rule.words(),
        "decision": line.rule.decision,
        "calls_per_minute": budgets.calls_per_minute,
        "calls_per_execution": budgets.calls_per_execution,
        "calls_per_day": budgets.calls_per_day,
        "reason": line.rule.reason,
        "origin": &*line.origin,
    })
}

/// A call that somebody might make.
struct Tested {
    server: String,
    tool: String,
    hints: Option<Hints>,
    arguments: String,
    token: Option<TokenRecord>,
    client: Option<String>,
    session: Option<String>,
    level: Level,
}

impl Tested {
    async fn find(
        configured: &Configured,
        name: &str,
        arguments: String,
        token: Option<String>,
        client: Option<String>,
        session: Option<String>,
    ) -> Result<Self, Failure> {
        let token = token.map(|name| known_token(configured, &name)).transpose()?;
        match given_json(&arguments) {
            Ok(Value::Object(_)) => {}
            Ok(_) | Err(_) => {
                return Err(Failure::Usage(anyhow!(
                    "the arguments must be a JSON object, such as '{{\"amount\": 5}}'"
                )));
            }
        }
        let upstreams = configured.connect(&configured.usable(), Refresh::WhenUsed)?;
        upstreams.known_soon().await;
        let snapshot = upstreams.snapshot();
        let (server, tool, hints) = match snapshot.lookup().resolve(name) {
            Resolved::One(server, tool) => {
                let definition = &tool.definition;
                (server.offer.name.clone(), definition.name.clone(), Some(Hints::of(definition)))
            }
            Resolved::Reserved(server, reserved) => (server.offer.name.clone(), reserved.name.clone(), None),
            Resolved::Several(_) | Resolved::None(_) => match name.split_once('.') {
                Some((server, tool)) => (server.to_owned(), tool.to_owned(), None),
                None => return Err(Failure::Usage(anyhow!("`{}` must be SERVER.TOOL", one_line(name)))),
            },
        };
        gristmill_gateway::ports::ToolSource::close(&upstreams).await;
        let level = configured.config.level;
        Ok(Self { server, tool, hints, arguments, token, client, session, level })
    }

    fn explain(&self, configured: &Configured, policy: &Policy, read_both: bool, as_json: bool) -> Outcome {
        let asked = Asked {
            kind: AskedKind::Tool,
            server: &self.server,
            name: &self.tool,
            hints: self.hints.unwrap_or_default(),
            arguments: Arguments::of(&self.arguments),
            token: self.token.as_ref().map(|token| token.name.as_str()),
            token_limits: self.token.as_ref().map(|token| token.limits.as_ref()),
            client: self.client.as_deref(),
            session: self.session.as_deref(),
            level: self.level,
        };
        let flow = self.flow(configured, policy).filter(|_| read_both);
        let (lines, decided) = policy.explain(&asked, flow);
        let is_always = self.is_always_allowed(configured, &decided)?;
        if as_json {
            let tool = format!("{}.{}", self.server, self.tool);
            println!(
                "{:#}",
                json!({
                    "tool": tool,
                    "is_known": self.hints.is_some(),
                    "decision": decided.decision,
                    "rule": &*decided.rule,
                    "why": &*decided.why,
                    "origin": &*decided.origin,
                    "always_allowed": is_always,
                    "lines": lines,
                })
            );
            return Ok(ExitCode::SUCCESS);
        }
        self.print(&lines, &decided, is_always);
        Ok(ExitCode::SUCCESS)
    }

    /// What is said about it once both were read, by the first servers that have those marks.
    fn flow(&self, configured: &Configured, policy: &Policy) -> Option<Decided> {
        let usable = configured.usable();
        let mut seen = Seen::default();
        for server in &usable {
            seen.add(&Seen::from_server(&server.settings.name, &server.settings.marks));
        }
        let target = usable.iter().find(|server| server.settings.name == self.server)?;
        policy.flow().decide(&seen, &self.server, &target.settings.marks, self.level)
    }

    fn print(&self, lines: &[Explained], decided: &Decided, is_always: bool) {
        let mut table = Table::new([
            Column::right("#"),
            Column::wrapping("RULE"),
            Column::left("SAYS"),
            Column::wrapping("FITS"),
            Column::wrapping("FROM"),
        ]);
        for (index, line) in lines.iter().enumerate() {
            let fits = match &line.outcome {
                Fit::Decides => "yes: it decides".to_owned(),
                Fit::Counts => "yes: it counts the call".to_owned(),
                Fit::Overruled(rule) => format!("yes, but `{rule}` is stricter"),
                Fit::No(why) => format!("no: {why}"),
                Fit::NotReached => "not reached".to_owned(),
            };
            let says = line.decision.map(|decision| decision.to_string()).unwrap_or_default();
            table.row([
                (index + 1).to_string(),
                one_line(&line.rule),
                says,
                one_line(&fits),
                one_line(&line.origin),
            ]);
        }
        table.print();
        let name = one_line(&format!("{}.{}", self.server, self.tool));
        let always = if is_always { "; you have allowed it for good" } else { "" };
        print_lines(&format!("{name}: {}, because {}{always}", decided.decision, decided.why));
        if self.hints.is_none() {
            eprint_lines(&format!(
                "note: {name} isn't a known tool, so rules can't go by what its server says about it"
            ));
        }
    }

    fn is_always_allowed(&self, configured: &Configured, decided: &Decided) -> Result<bool, Failure> {
        // Tokens have owners of their own, whose names are not kept.
        if self.token.is_some() {
            return Ok(false);
        }
        let always = AlwaysApprovals::open(&configured.data_folder()?).current();
        let always = always.map_err(|error| Failure::Usage(error.into()))?;
        Ok(always.contains(&AlwaysApproval {
            owner: Owner::LOCAL.to_owned(),
            rule: decided.rule.to_string(),
            server: self.server.clone(),
            tool: self.tool.clone(),
        }))
    }
}

fn known_token(configured: &Configured, name: &str) -> Result<TokenRecord, Failure> {
    let tokens = AccessTokens::open(&configured.data_folder()?).list();
    let tokens = tokens.map_err(|error| Failure::Usage(error.into()))?;
    tokens.into_iter().find(|token| token.name == name).ok_or_else(|| {
        Failure::Usage(anyhow!(
            "no token is named `{}`\nhint: `gristmill token list` shows them",
            one_line(name)
        ))
    })
}
