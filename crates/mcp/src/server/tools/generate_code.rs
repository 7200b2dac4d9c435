//! `generate_code`: has a program written for a task, checked and previewed; with `run` it is run under the same
//! consent as everywhere. Shown only where the user wants it.

use gristmill_gateway::access::Scope;
use gristmill_gateway::answer::{AnswerBudget, TOKENS_MAX, TOKENS_MIN, fit};
use gristmill_gateway::ask::{
    AskEvent, AskLimits, AskRequest, Asked, Asking, Go, Preview, is_request, question_words,
};
use gristmill_gateway::domain::Code;
use gristmill_gateway::domain::shape::Strategy;
use gristmill_gateway::engine_named;
use gristmill_gateway::ports::{Question, QuestionAnswer, QuestionKind};
use gristmill_gateway::service::{Answers, PendingQuestion};
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text, texts};
use super::tool_call::ToolCall;
use crate::server::answer::Answer;
use crate::server::arguments::{read_arguments, whole_number};
use crate::server::profile::Profile;
use crate::server::sampling::ClientModel;
use crate::server::{GatewayServer, attend, questions};

/// Findings of one answer.
const FINDINGS_MAX: usize = 10;

/// What of a program fits in a question, and in a line of it. Nobody says yes to what isn't shown.
const ASKED_CHARS_MAX: usize = 4_000;
const ASKED_LINE_CHARS_MAX: usize = 500;

pub(super) static GENERATE_CODE: OwnTool = OwnTool {
    name: "generate_code",
    title: "Write a program",
    description: include_str!("generate_code.md"),
    input: Input {
        properties: |_| {
            json!({
                "task": text(),
                "run": {"type": "boolean"},
                "language": {"type": "string", "enum": ["python", "typescript"]},
                "session": text(),
                "max_output_tokens": integer(),
            })
        },
        required: &["task"],
        shown_in_full_only: &["language", "session", "max_output_tokens"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || {
            json!({
                "status": {"type": "string", "enum": ["ok", "written", "needs_consent", "failed", "not_written", "cancelled"]},
                "code": text(),
                "language": text(),
                "calls": {"type": "object"},
                "findings": texts(),
                "result": {},
                "answer": text(),
                "notes": texts(),
                "error": {"type": "object"},
            })
        },
        required: &["status"],
    },
    annotations: Annotations::RUNS_A_PROGRAM,
    shown_from: Profile::Minimal,
    scopes: &[Scope::Execute],
    errors_are_structured: true,
    run: Run::Answer(|server, call| Box::pin(generate_code(server, call))),
};

#[derive(Deserialize)]
struct Arguments {
    task: String,
    #[serde(default)]
    run: bool,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    max_output_tokens: Option<Number>,
}

async fn generate_code(server: &GatewayServer, mut call: ToolCall<'_>) -> Result<Answer, Answer> {
    let arguments: Arguments = read_arguments(call.take_arguments())?;
    let range = TOKENS_MIN as u64..=TOKENS_MAX as u64;
    let tokens = whole_number("max_output_tokens", arguments.max_output_tokens.as_ref(), range)?;
    let tokens_max = tokens.map_or(server.parts.answer_tokens, |tokens| tokens as usize);
    let request = request_of(server, &call, arguments, tokens_max)?;
    let asking = server.parts.gateway.ask(request);
    let asked = tokio::select! {
        asked = follow(asking, &call) => asked,
        // Dropped: its program is stopped.
        () = call.context.ct.cancelled() => None,
    };
    match asked {
        Some(asked) => Ok(answer_of(&asked, tokens_max)),
        None => Err(Answer::refused(Code::Cancelled, "the request was taken back", None)),
    }
}

fn request_of(
    server: &GatewayServer,
    call: &ToolCall<'_>,
    arguments: Arguments,
    tokens_max: usize,
) -> Result<AskRequest, Answer> {
    let language = arguments.language.as_deref().unwrap_or("python");
    let engine = engine_named(language)
        .map_err(|error| Answer::refused(Code::BadRequest, &error.to_string(), None))?;
    let Some(writers) = &server.parts.code_writers else {
        return Err(Answer::refused(Code::BadRequest, "this gateway writes no programs", None));
    };
    let requester = &call.requester;
    let mut models = writers.models.clone();
    models.extend(ClientModel::of(call.context, requester.is_modern));
    let without = if models.is_empty() { writers.without.clone() } else { Vec::new() };
    // A request that stands for itself can't be asked back while it is worked on.
    let answers = if requester.is_modern { Answers::default() } else { requester.answers };
    // The code takes the rest.
    let answer = AnswerBudget { tokens_max: (tokens_max / 2).max(TOKENS_MIN), strategy: Strategy::Auto };
    Ok(AskRequest {
        models,
        rules: writers.rules.clone(),
        without,
        go: if arguments.run { Go::Run } else { Go::Write },
        session: Some(server.session_choice(arguments.session)),
        // Its agent changes it with every program that it runs.
        session_is_open: true,
        answers,
        answer,
        limits: AskLimits { total_time: server.parts.answer_within, ..AskLimits::default() },
        changes_skills_as: requester.is_admin.then(|| requester.owner.clone()),
        ..AskRequest::new(requester.caller.clone(), arguments.task, engine)
    })
}

/// Follows it to its end, and puts what it asks before the client's user where that can be done.
async fn follow(mut asking: Asking, call: &ToolCall<'_>) -> Option<Asked> {
    let can_ask = !call.requester.is_modern && call.requester.answers.approvals;
    let mut code = String::new();
    while let Some(event) = asking.next_event().await {
        match event {
            AskEvent::Program(program) => code = program.code,
            AskEvent::AwaitingConsent { writes, made } => {
                let is_yes = can_ask && says_yes(call, &code, &writes, &made).await;
                asking.consent(is_yes);
            }
            AskEvent::Running { follower, .. } if can_ask => {
                tokio::spawn(attend::ask_client(follower, call.context.peer.clone()));
            }
            _ => {}
        }
    }
    asking.finish().await
}

/// Asks the client's user about a program; one that can't be shown whole is a no.
async fn says_yes(call: &ToolCall<'_>, code: &str, writes: &[String], made: &[String]) -> bool {
    let is_shown = code.chars().count() <= ASKED_CHARS_MAX
        && code.lines().all(|line| line.chars().count() <= ASKED_LINE_CHARS_MAX);
    if !is_shown {
        return false;
    }
    let words = question_words(writes);
    let mut message = format!("Run this program? I{}.", words.strip_prefix('i').unwrap_or(&words));
    for one in made {
        message.push_str(&format!("\nDone already by an earlier attempt: {one}"));
    }
    message.push('\n');
    message.push_str(code);
    let question = Question { server: "gristmill".to_owned(), message, asked: QuestionKind::Plan };
    let pending = PendingQuestion { number: 0, question };
    match questions::ask(call.context.peer.clone(), pending).await.1 {
        QuestionAnswer::Accept(Some(content)) => content["answer"] == "once",
        QuestionAnswer::Accept(None) | QuestionAnswer::Decline | QuestionAnswer::Cancel => false,
    }
}

/// What is said about it, within a budget: first what it gave, then the program.
fn answer_of(asked: &Asked, tokens_max: usize) -> Answer {
    let status = asked.ending.as_str();
    let mut structured = json!({"status": status});
    let mut text = format!("status: {status}\n");
    let notes = notes_of(asked);
    for note in &notes {
        text.push_str(&format!("note: {note}\n"));
    }
    if let Some(answer) = &asked.answer {
        text.push_str(&format!("{}\n", answer.text.trim_end()));
        structured["answer"] = json!(answer.text);
        structured["result"] = answer.structured["result"].clone();
        if answer.is_error {
            structured["error"] = answer.structured["error"].clone();
        }
    }
    if let Some(preview) = &asked.preview {
        structured["calls"] = preview.as_json();
        text.push_str(&calls_line(preview));
    }
    let findings: Vec<String> = asked
        .findings
        .iter()
        .take(FINDINGS_MAX)
        .map(|finding| {
            format!("line {}: {} {}: {}", finding.line, finding.rule, finding.severity, finding.message)
        })
        .collect();
    if !findings.is_empty() {
        text.push_str(&format!("{}\n", findings.join("\n")));
        structured["findings"] = json!(findings);
    }
    if let Some(program) = &asked.program {
        let shown = fit::beginning(&program.code, (tokens_max / 2).max(TOKENS_MIN)).text;
        text.push_str(&format!("```{}\n{}\n```\n", program.engine.name(), shown.trim_end()));
        structured["language"] = json!(program.engine.name());
        structured["code"] = Value::from(shown);
    }
    if !notes.is_empty() {
        structured["notes"] = json!(notes);
    }
    let is_error = matches!(status, "failed" | "not_written" | "cancelled");
    Answer { text: fit::beginning(&text, tokens_max).text, structured, is_error }
}

/// What it calls, and what that comes to.
fn calls_line(preview: &Preview) -> String {
    let tools: Vec<String> = preview
        .tools
        .iter()
        .map(|tool| match is_request(&tool.name) {
            true => format!("{} ({})", tool.name, tool.does()),
            false => tool.name.clone(),
        })
        .collect();
    let only_requests = !preview.may_call_others
        && preview.tools.iter().all(|tool| tool.is_read_only || is_request(&tool.name))
        && preview.tools.iter().any(|tool| is_request(&tool.name));
    let only = match (preview.only_reads, only_requests) {
        (true, _) => "it only reads",
        (false, true) => "it sends requests",
        (false, false) => "it may write",
    };
    format!("calls: {} ({only})\n", tools.join(", "))
}

fn notes_of(asked: &Asked) -> Vec<String> {
    let mut notes: Vec<String> = asked.reasons.iter().take(FINDINGS_MAX).cloned().collect();
    notes.extend(
        asked.program.iter().flat_map(|program| &program.assumptions).map(|one| format!("assumed: {one}")),
    );
    notes.extend(asked.made.iter().map(|one| format!("written: {one}")));
    if asked.ending.as_str() == "needs_consent" {
        notes.push(
            "it didn't run: show it to the user, and run it with execute_code if they agree".to_owned(),
        );
    }
    if !asked.nearest.is_empty() {
        notes.push(format!("nearest tools: {}", asked.nearest.join(", ")));
    }
    notes
}
