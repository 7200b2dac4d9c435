//! Playground: a program that is written for a task. It lands in the editor, and runs when its owner says so.

use std::time::Duration;

use axum::response::Response;
use gristmill_dashboard::pages::{self, PlaygroundWritten};
use gristmill_gateway::ask::{AskLimits, AskRequest, Asked, Go, PreviewedTool};
use gristmill_gateway::domain::policy::Decision;
use gristmill_gateway::domain::{grouped, one_line};
use gristmill_gateway::engine_named;
use gristmill_gateway::ids::Caller;
use http::StatusCode;

use super::playground::view;
use super::visit::Visit;

/// A page that takes longer is a page that nobody waits for.
const WRITING_TIME: Duration = Duration::from_secs(90);

const NOTES_MAX: usize = 10;
const LINE_CHARS_MAX: usize = 300;

/// Writes, checks and previews a program; nothing runs.
pub(super) async fn write(visit: Visit) -> Response {
    let task = visit.form.value("task").unwrap_or_default().trim().to_owned();
    let Some(writers) = visit.parts().code_writers.clone() else {
        let what = "Nobody writes programs here";
        return visit.problem(StatusCode::NOT_FOUND, what, "Set up a model first: docs/ask.md.").await;
    };
    let Ok(engine) = engine_named(visit.form.filled("language").unwrap_or("python")) else {
        let what = "This gateway doesn't run that language";
        return visit.problem(StatusCode::BAD_REQUEST, what, "It runs Python and TypeScript.").await;
    };
    let request = AskRequest {
        models: writers.models,
        rules: writers.rules,
        without: writers.without,
        go: Go::Write,
        limits: AskLimits { total_time: WRITING_TIME, ..AskLimits::default() },
        ..AskRequest::new(Caller::local(), task.clone(), engine)
    };
    let Some(asked) = visit.parts().gateway.ask(request).finish().await else {
        return visit.problem(StatusCode::SERVICE_UNAVAILABLE, "Nothing was written", "Try again.").await;
    };
    let mut view = view(&visit).await;
    view.language = engine.name().into();
    view.task = Some(task.as_str().into());
    view.written = Some(written(&asked));
    if let Some(program) = &asked.program {
        view.code = program.code.as_str().into();
    }
    visit.page(pages::playground, view).await
}

fn written(asked: &Asked) -> PlaygroundWritten {
    let by = match &asked.program {
        Some(program) => {
            let tokens = asked.spent.tokens.input + asked.spent.tokens.output;
            let price = asked.spent.price.filter(|price| *price > 0.0);
            let price = price.map(|price| format!(", ${price:.4}")).unwrap_or_default();
            format!(
                "Written by {}, {} tokens{price}. Look at it, then run it.",
                program.author,
                grouped(tokens)
            )
        }
        None => "No program was written.".to_owned(),
    };
    let calls = asked.preview.iter().flat_map(|preview| preview.tools.iter().map(call)).collect();
    let mut notes: Vec<String> = Vec::new();
    if asked.preview.as_ref().is_some_and(|preview| preview.may_call_others) {
        notes.push("It may call others, too: not everything in it can be followed.".to_owned());
    }
    notes.extend(
        asked.program.iter().flat_map(|program| &program.assumptions).map(|one| format!("Assumed: {one}")),
    );
    let findings = asked.findings.iter();
    notes.extend(
        findings.map(|finding| format!("Line {}: {} {}", finding.line, finding.rule, finding.message)),
    );
    notes.extend(asked.reasons.iter().cloned());
    if !asked.nearest.is_empty() {
        notes.push(format!("Nearest tools: {}", asked.nearest.join(", ")));
    }
    let line = |text: String| one_line(&text, LINE_CHARS_MAX).into();
    PlaygroundWritten { by: line(by), calls, notes: notes.into_iter().take(NOTES_MAX).map(line).collect() }
}

fn call(tool: &PreviewedTool) -> gristmill_dashboard::Text {
    let policy = match tool.decision {
        Some(Decision::Allow) => "allowed",
        Some(Decision::Ask) => "the policy asks",
        Some(Decision::Deny) => "the policy denies it",
        None => "unknown",
    };
    one_line(&format!("{} ({}, {policy})", tool.name, tool.does()), LINE_CHARS_MAX).into()
}
