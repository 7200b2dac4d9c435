//! Playground: write a program, run it, watch it.

use maud::{Markup, html};

use super::execution::{Execution, execution_live};
use super::execution_lines::Outcome;
use crate::frame::{Head, Place, csrf_field, page};
use crate::parts::{card, empty};
use crate::{Frame, Text, routes};

#[derive(Clone, Debug)]
pub struct Playground {
    pub code: Text,
    /// Those that this gateway runs; the first is the default.
    pub languages: Vec<Text>,
    pub language: Text,
    /// Sessions that it may run in.
    pub sessions: Vec<Text>,
    pub session: Text,
    pub tools: Vec<PlaygroundTool>,
    /// The task that a program was or is to be written for; `None` if nobody writes programs here.
    pub task: Option<Text>,
    /// What came of it, if something was written.
    pub written: Option<PlaygroundWritten>,
    pub run: Option<PlaygroundRun>,
}

/// A name that the editor completes.
#[derive(Clone, Debug)]
pub struct PlaygroundTool {
    /// As a program writes it.
    pub name: Text,
    pub summary: Text,
}

/// What is said about the program in the editor that was written for a task.
#[derive(Clone, Debug)]
pub struct PlaygroundWritten {
    /// Who wrote it and what that took, or that nobody did.
    pub by: Text,
    /// What it would call, a line for each tool.
    pub calls: Vec<Text>,
    /// What was found in it, and why writers gave up.
    pub notes: Vec<Text>,
}

/// The program that was started from here.
#[derive(Clone, Debug)]
pub struct PlaygroundRun {
    pub execution: Execution,
}

pub fn playground(frame: &Frame, view: &Playground) -> Markup {
    let head = Head {
        lead: html! { "Run a program as an agent would, with the same tools, limits and rules." },
        ..Head::of(Place::Playground)
    };
    let body = html! {
        @if let Some(task) = &view.task { (task_form(frame, view, task)) }
        div.columns-2-1 {
            (editor(frame, view))
            (card("Tools", &tools(&view.tools)))
        }
        @if let Some(run) = &view.run {
            (output(run))
        } @else {
            (empty("Nothing has run yet", &html! { "Its output, calls and result show up here while it runs." }))
        }
    };
    page(frame, &head, &body)
}

/// A task in words; the program for it lands in the editor.
fn task_form(frame: &Frame, view: &Playground, task: &Text) -> Markup {
    html! {
        form.card method="post" action=(routes::PLAYGROUND_ASK) {
            (csrf_field(frame))
            label {
                span { "Task, in words" }
                input type="text" name="task" value=(task.raw()) maxlength="4000" autocomplete="off" required;
            }
            div.buttons {
                (select("Language", "language", &view.language, &view.languages, None))
                button type="submit" { "Write a program" }
            }
            @if let Some(written) = &view.written { (written_for(written)) }
        }
    }
}

fn written_for(written: &PlaygroundWritten) -> Markup {
    html! {
        p role="status" { (written.by) }
        @if !written.calls.is_empty() {
            p { "It would call:" }
            ul { @for call in &written.calls { li { (call) } } }
        }
        @for note in &written.notes { p.note { (note) } }
    }
}

fn editor(frame: &Frame, view: &Playground) -> Markup {
    html! {
        form.card.editor method="post" action=(routes::PLAYGROUND_RUN) {
            (csrf_field(frame))
            label.code-label for="code" { "Program" }
            div.editor-area {
                // A textarea loses its first line break.
                textarea #code name="code" rows="16" spellcheck="false" autocapitalize="off" autocomplete="off" required
                    wrap="off" aria-describedby="editor-keys" data-complete="tool-names" { "\n" (view.code.raw()) }
                ul.completions #completions hidden {}
            }
            div.buttons {
                (select("Language", "language", &view.language, &view.languages, None))
                (select("Session", "session", &view.session, &view.sessions, Some("None")))
                button.primary type="submit" { "Run" }
            }
            p.note #editor-keys { "With JavaScript, tool names are completed as you type, and Ctrl+Enter runs." }
        }
    }
}

fn select(label: &str, name: &str, chosen: &Text, choices: &[Text], none: Option<&str>) -> Markup {
    html! {
        label {
            span { (label) }
            select name=(name) {
                @if let Some(none) = none { option value="" { (none) } }
                @for choice in choices {
                    option value=(choice.raw()) selected[choice == chosen] { (choice) }
                }
            }
        }
    }
}

fn tools(tools: &[PlaygroundTool]) -> Markup {
    html! {
        @if tools.is_empty() {
            p.note { "No tools: " a href=(routes::SERVERS) { "add a server" } " first." }
        } @else {
            ul.tool-names #tool-names tabindex="0" aria-label="Tools" {
                @for tool in tools {
                    li { code data-name { (tool.name) } span.small { (tool.summary) } }
                }
            }
        }
    }
}

fn output(run: &PlaygroundRun) -> Markup {
    let line = &run.execution.line;
    let live = routes::fill(routes::LIVE_EXECUTION, &[line.id.raw()]);
    let running = line.outcome == Outcome::Running;
    html! {
        section.run aria-label="The run" {
            p.run-head {
                a href=(routes::fill(routes::EXECUTION, &[line.id.raw()])) { "Open this execution" }
            }
            div data-live=[running.then_some(live)] { (execution_live(&run.execution)) }
        }
    }
}
