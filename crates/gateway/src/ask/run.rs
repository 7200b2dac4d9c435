//! Run: the program goes the way of every program, and is followed to its end.

use std::sync::Arc;

use gristmill_domain::one_line;

use super::consent::Consented;
use super::course::Course;
use super::event::{AskEvent, AskedProgram, Preview};
use super::limits::{NOTE_CHARS_MAX, TOLD_MAX};
use super::pick::Picked;
use crate::answer::{self, Answer, AnswerBudget};
use crate::execute::Event;
use crate::ports::Writes;
use crate::report::{Report, ToolCalled};
use crate::request::{Capabilities, ExecuteRequest};
use crate::service::{Follower, PlaceChoice, StartRequest};
use crate::session::Patience;

/// A program that has ended.
pub(super) struct Ran {
    pub program: AskedProgram,
    pub preview: Preview,
    pub report: Arc<Report>,
    pub answer: Arc<Answer>,
    /// Tools that it wanted to write with although it was to read only. Nothing of that was sent.
    pub wanted: Vec<String>,
}

/// Runs it to its end.
pub(super) async fn run(course: &mut Course, picked: &Picked, consented: Consented) -> Ran {
    let Consented { program, preview, writes } = consented;
    let start = start_of(course, &program, writes.clone());
    let budget = course.request.answer;
    let (report, answer) = match course.service.start_live(start) {
        Ok((follower, events)) => {
            // From here on: whoever asked may be gone before anything is told.
            let stop = StopOnDrop(Some(follower.clone()));
            course.last.execution = Some(follower.id().clone());
            let only_reads = writes.is_refused();
            let running =
                AskEvent::Running { id: follower.id().clone(), only_reads, follower: follower.clone() };
            course.tell(running).await;
            let ended = follow(course, follower, events, budget).await;
            stop.let_go();
            ended
        }
        Err(report) => {
            let answer = answer::of_report(&report, &budget, None, None).await;
            (Arc::from(report), Arc::new(answer))
        }
    };
    course.last.report = Some(Arc::clone(&report));
    course.last.answer = Some(Arc::clone(&answer));
    let made = writes_made(picked, &report);
    course.note_made(made);
    let wanted = match &writes {
        Writes::Refused(refused) => refused.names(),
        Writes::Sent | Writes::Held(_) | Writes::Planned(_) => Vec::new(),
    };
    Ran { program, preview, report, answer, wanted }
}

fn start_of(course: &Course, program: &AskedProgram, writes: Writes) -> StartRequest {
    let request = &course.request;
    let changes_skills_as = request.changes_skills_as.clone().filter(|_| !writes.is_refused());
    let capabilities = Capabilities { writes, changes_skills_as, ..Capabilities::default() };
    let limits = request.program_limits.clone();
    let program =
        ExecuteRequest { limits, capabilities, ..ExecuteRequest::of(program.engine, program.code.clone()) };
    let place = match &request.session {
        Some(session) => PlaceChoice::Session {
            session: session.clone(),
            patience: Patience::default(),
            keep_variables: false,
        },
        None => PlaceChoice::AsRequested,
    };
    StartRequest {
        place,
        answers: request.answers,
        answer: Some(request.answer),
        budget_is_explicit: true,
        level: request.level,
        note: Some(format!("written for: {}", one_line(&course.sentence, NOTE_CHARS_MAX))),
        ..StartRequest::new(request.caller.clone(), program)
    }
}

/// Tells what it prints until it ends.
async fn follow(
    course: &Course,
    mut follower: Follower,
    mut events: crate::service::LiveEvents,
    budget: AnswerBudget,
) -> (Arc<Report>, Arc<Answer>) {
    while let Some(event) = events.next().await {
        if let Event::Output { stream, bytes } = event {
            course.tell(AskEvent::Output { stream, bytes }).await;
        }
    }
    let report = follower.ended().await;
    let answer = match follower.progress().answer {
        Some(answer) => answer,
        None => Arc::new(answer::of_report(&report, &budget, None, None).await),
    };
    (report, answer)
}

/// A program whose asker is gone is stopped.
struct StopOnDrop(Option<Follower>);

impl StopOnDrop {
    fn let_go(mut self) {
        self.0 = None;
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(follower) = &self.0 {
            follower.cancel();
        }
    }
}

/// What left us and was no read, as far as servers say.
fn writes_made(picked: &Picked, report: &Report) -> Vec<String> {
    let is_read = |called: &ToolCalled| {
        picked.find(&called.name).is_some_and(|(_, tool)| tool.definition.read_only == Some(true))
    };
    let written = report.tools_called.iter().filter(|called| called.sent && !is_read(called));
    let told = |called: &ToolCalled| {
        let how = match (called.ok, &called.error) {
            (true, _) => "done".to_owned(),
            (false, Some(error)) => format!("failed: {}", one_line(error, 160)),
            (false, None) => "failed".to_owned(),
        };
        let line = called.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!("{} ({how}{line})", one_line(&called.name, 200))
    };
    written.take(TOLD_MAX).map(told).collect()
}
