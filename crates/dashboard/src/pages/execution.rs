//! One execution: where its time went, its code, what it said, what was decided.

use maud::{Markup, html};

use super::execution_lines::{ExecutionLine, Outcome};
use super::policy::Verdict;
use crate::frame::{Head, Place, csrf_field, page};
use crate::number::{bytes, count, duration, signed};
use crate::parts::{Tone, badge, block, card, cell, facts, listing, number, stat, table};
use crate::plots::{Bar, Span, bars, waterfall};
use crate::{Frame, Text, routes};

#[derive(Clone, Debug)]
pub struct Execution {
    pub line: ExecutionLine,
    pub language: Text,
    pub level: Text,
    /// Absent if contents are not kept, as below.
    pub code: Option<Text>,
    pub error: Option<ExecutionError>,
    /// What the checks before it ran have found.
    pub findings: Vec<Text>,
    pub notes: Vec<Text>,
    pub limits_hit: Vec<Text>,
    pub stdout: Kept,
    pub stderr: Kept,
    pub result: Option<Kept>,
    /// What it stored: its result in full, files, and what its answer left out.
    pub stored: Vec<Stored>,
    pub spans: Vec<Span>,
    /// Whether it is known when each of them began, and not only how long it took.
    pub spans_are_placed: bool,
    pub tokens: TokenAccount,
    pub decisions: Vec<Decision>,
    pub trace_id: Option<Text>,
    /// The process that ran it, in words.
    pub gateway: Option<Text>,
    /// A shell script that runs it again and compares.
    pub as_test: Option<Text>,
    pub cpu_ms: f64,
    pub memory_peak_bytes: u64,
}

#[derive(Clone, Debug)]
pub struct ExecutionError {
    pub code: Text,
    pub line: Option<u64>,
    pub message: Text,
    pub hint: Option<Text>,
    pub traceback: Option<Text>,
}

/// A text, or what was kept of it.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub text: Option<Text>,
    /// Of the whole.
    pub bytes: u64,
}

/// A stored result.
#[derive(Clone, Debug)]
pub struct Stored {
    pub handle: Text,
    /// Such as `json`.
    pub kind: Text,
    pub bytes: u64,
}

/// What went through a model, and what did not have to.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenAccount {
    /// The program and the answer.
    pub used: u64,
    /// What its calls moved without a model.
    pub inside: u64,
    /// What direct calls would have taken.
    pub direct: u64,
}

/// What the policy said about calls of a tool.
#[derive(Clone, Debug)]
pub struct Decision {
    pub server: Text,
    pub tool: Text,
    pub verdict: Verdict,
    pub rule: Text,
    /// What a person said, if one was asked, in words.
    pub answer: Text,
    /// How many calls it was the same for.
    pub calls: u64,
}

pub fn execution(frame: &Frame, view: &Execution) -> Markup {
    let id = view.line.id.raw();
    let head = Head {
        title: Some(&view.line.summary),
        lead: html! {
            (view.line.caller) " · " (view.line.started.relative(frame.now))
            @if let Some(session) = &view.line.session {
                " · session " (session.link())
            }
        },
        actions: actions(frame, view),
        ..Head::of(Place::Executions)
    };
    let running = view.line.outcome == Outcome::Running;
    let live = routes::fill(routes::LIVE_EXECUTION, &[id]);
    let body = html! {
        div data-live=[running.then_some(live)] { (execution_live(view)) }
        (card("Code", &code(view)))
        @if let Some(test) = &view.as_test { (as_test(test)) }
        (tokens(view))
        (details(view))
    };
    page(frame, &head, &body)
}

/// What changes while the program runs.
pub fn execution_live(view: &Execution) -> Markup {
    html! {
        @if let Some(error) = &view.error { (problem(error)) }
        div.stats {
            (stat("Outcome", view.line.outcome.badge(), html! {
                @if let Some(code) = &view.line.error_code { (code) }
            }))
            (stat("Time", duration(view.line.duration_ms), html! { "CPU " (duration(view.cpu_ms)) }))
            (stat("Calls", count(view.line.calls), html! { (count(view.line.calls_failed)) " failed" }))
            (stat("Memory, peak", bytes(view.memory_peak_bytes), html! { "level " (view.level) }))
            (stat("Tokens saved", signed(view.line.tokens_saved), "against direct calls"))
        }
        (card("Where the time went", &html! {
            @if view.spans.is_empty() {
                p.note { "No stages and calls are recorded yet." }
            } @else {
                @if !view.spans_are_placed { p.note { "How long each call took. When it began isn't recorded." } }
                (waterfall(&view.spans, view.line.duration_ms))
            }
        }))
        (output(view))
        (decisions(view))
    }
}

fn actions(frame: &Frame, view: &Execution) -> Markup {
    let id = view.line.id.raw();
    html! {
        form method="post" action=(routes::fill(routes::EXECUTION_RERUN, &[id])) {
            (csrf_field(frame))
            button.primary type="submit" disabled[view.code.is_none()] { "Rerun" }
        }
    }
}

fn problem(error: &ExecutionError) -> Markup {
    html! {
        section.card.problem {
            h2 {
                span.error-code { (error.code) } " "
                @if let Some(line) = error.line { a href={ "#line-" (line) } { "line " (line) } }
            }
            p.message { (error.message) }
            @if let Some(hint) = &error.hint { p { strong { "Next: " } (hint) } }
            @if let Some(traceback) = &error.traceback {
                details { summary { "Traceback" } (block(traceback)) }
            }
        }
    }
}

fn code(view: &Execution) -> Markup {
    let failing = view.error.as_ref().and_then(|error| Some((error.line?, &error.message)));
    html! {
        @if let Some(code) = &view.code {
            (listing(code, failing))
        } @else {
            p.note { "This gateway keeps no contents: " code { "history.content" } " is off." }
        }
        @if !view.findings.is_empty() {
            p { strong { "Found before it ran: " }
                @for finding in &view.findings { (badge(Tone::Warn, finding)) " " } }
        }
    }
}

fn output(view: &Execution) -> Markup {
    html! {
        div.columns-1-1 {
            (card("Output", &html! {
                (kept(&view.stdout, "It printed nothing."))
                @if view.stderr.bytes > 0 { h3 { "Errors" } (kept(&view.stderr, "")) }
            }))
            (card("Result", &html! {
                @if let Some(result) = &view.result {
                    (kept(result, "Its contents were not kept."))
                } @else {
                    p.note { "It returned nothing." }
                }
                @for stored in &view.stored {
                    p { "Stored in full: "
                        a href=(routes::fill(routes::RESULT, &[stored.handle.raw()])) { code { (stored.handle) } }
                        span.small { " " (stored.kind) ", " (bytes(stored.bytes)) } }
                }
            }))
        }
    }
}

fn kept(kept: &Kept, otherwise: &str) -> Markup {
    html! {
        @match &kept.text {
            Some(text) if !text.is_empty() => {
                (block(text))
                @if kept.bytes > text.raw().len() as u64 {
                    p.note { (bytes(text.raw().len() as u64)) " of " (bytes(kept.bytes)) }
                }
            }
            _ if kept.bytes > 0 => p.note { (bytes(kept.bytes)) ", not kept" },
            _ => p.note { (otherwise) },
        }
    }
}

fn tokens(view: &Execution) -> Markup {
    let account = view.tokens;
    let bar = |label: &str, value, tone| Bar { label: Text::from(label), value, tone };
    let ways =
        [bar("With Gristmill", account.used, Tone::Good), bar("Direct calls", account.direct, Tone::Quiet)];
    card(
        "Tokens",
        &html! {
            (bars(&ways, "tokens"))
            p.note { (count(account.inside)) " tokens moved between tools without a model" }
        },
    )
}

/// To be pasted into a shell, or kept as a file.
fn as_test(test: &Text) -> Markup {
    html! {
        section.card {
            div.card-head {
                h2 { "As a test" }
                button type="button" data-copy="as-test" hidden { "Copy as test" }
            }
            p.note { "A shell script that runs the program again, without its session, and fails if it comes to something else." }
            details {
                summary { "Show it" }
                // A textarea loses its first line break.
                textarea #as-test readonly rows="12" wrap="off" spellcheck="false" aria-label="The test" { "\n" (test.raw()) }
            }
        }
    }
}

fn decisions(view: &Execution) -> Markup {
    let columns = [cell("Decision"), cell("Tool"), cell("Rule"), cell("Answer"), number("Calls")];
    let rows = view.decisions.iter().map(|decision| {
        vec![
            decision.verdict.badge(),
            html! {
                a href=(routes::fill(routes::TOOL, &[decision.server.raw(), decision.tool.raw()])) {
                    (decision.server) "." (decision.tool)
                }
            },
            html! { code { (decision.rule) } },
            html! { (decision.answer) },
            html! { (count(decision.calls)) },
        ]
    });
    html! {
        @if !view.decisions.is_empty() {
            (card("Policy decisions", &table("Policy decisions", &columns, rows)))
        }
    }
}

fn details(view: &Execution) -> Markup {
    let list = |texts: &[Text]| html! { @for text in texts { (text) br; } };
    let mut lines = vec![
        ("Execution", html! { code { (view.line.id) } }),
        ("Language", html! { (view.language) }),
        ("Level", html! { (view.level) }),
    ];
    if let Some(trace) = &view.trace_id {
        lines.push(("Trace id", html! { code.select-all { (trace) } }));
    }
    if let Some(gateway) = &view.gateway {
        lines.push(("Ran by", html! { (gateway) }));
    }
    if !view.limits_hit.is_empty() {
        lines.push(("Limits hit", list(&view.limits_hit)));
    }
    if !view.notes.is_empty() {
        lines.push(("Notes", list(&view.notes)));
    }
    card("Details", &facts(&lines))
}
