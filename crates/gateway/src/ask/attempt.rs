//! One attempt: check → consent → run, and what follows from how that went.

use gristmill_domain::{Code, one_line};

use super::check::{Unfit, check};
use super::consent::{Consented, consent, consent_to_writes};
use super::course::Course;
use super::event::{AskEnding, AskEvent, AskedProgram};
use super::limits::FAILURE_TOKENS_MAX;
use super::pick::Picked;
use super::request::Go;
use super::run::{Ran, run};
use super::write::Draft;
use crate::answer::fit;
use crate::report::{ErrorReport, Report};

/// How an attempt ended.
pub(super) enum Attempted {
    /// With the whole ask.
    Ended(AskEnding),
    /// Whoever wrote the program may try again, knowing this.
    Repairable { program: AskedProgram, failure: String },
}

pub(super) async fn attempt(course: &mut Course, picked: &Picked, draft: Draft) -> Attempted {
    let checked = match check(course, picked, draft).await {
        Ok(checked) => checked,
        Err(Unfit { program, why, told }) => return failed(course, program, why, told).await,
    };
    if course.request.go == Go::Write {
        return Attempted::Ended(AskEnding::Written);
    }
    let Some(consented) = consent(course, checked).await else {
        return Attempted::Ended(AskEnding::NoConsent);
    };
    let made_before = course.made.len();
    let ran = run(course, picked, consented).await;
    // What was written already must not be written twice.
    if ran.wanted.is_empty() || course.made.len() > made_before {
        return judge(course, ran).await;
    }
    let Ran { program, preview, wanted, .. } = ran;
    let tools = wanted.join(", ");
    course
        .reasons
        .push(format!("it seemed to read only, and wanted to write with {tools}; that wasn't sent"));
    match consent_to_writes(course, (program, preview), wanted).await {
        Some(consented) => with_writes(course, picked, consented).await,
        None => Attempted::Ended(AskEnding::NoConsent),
    }
}

/// Once more, with a person's yes to its writes.
async fn with_writes(course: &mut Course, picked: &Picked, consented: Consented) -> Attempted {
    let ran = run(course, picked, consented).await;
    judge(course, ran).await
}

async fn judge(course: &mut Course, ran: Ran) -> Attempted {
    let Ran { program, report, answer, .. } = ran;
    let Some(error) = &report.error else {
        let finished = AskEvent::Finished { value: report.result.clone(), answer: answer.text.clone() };
        course.tell(finished).await;
        return Attempted::Ended(AskEnding::Finished);
    };
    // What a model would read of it: what is personal is hidden already.
    let words =
        format!("The program ran and failed:\n{}", fit::beginning(&answer.text, FAILURE_TOKENS_MAX).text);
    if !is_repairable(&report, error.code) {
        failed(course, program, words, told_of(error)).await;
        return Attempted::Ended(AskEnding::Failed);
    }
    failed(course, program, words, told_of(error)).await
}

/// `failure` is for whoever wrote it, `told` for a person.
async fn failed(course: &mut Course, program: AskedProgram, failure: String, told: String) -> Attempted {
    course.failure = Some(told.clone());
    course.tell(AskEvent::Failed { attempt: program.attempt, text: told }).await;
    Attempted::Repairable { program, failure }
}

/// Where it happened and what: nobody who reads this mends the program by hand.
fn told_of(error: &ErrorReport) -> String {
    let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let message = error.message.trim();
    let message = if message.is_empty() { error.kind.as_str() } else { message };
    format!("{line}{} ({})", one_line(message, 300), error.code)
}

/// Whether another program could do better: not if a person, a server or this machine is in the way.
fn is_repairable(report: &Report, code: Code) -> bool {
    let is_in_the_way = matches!(
        code,
        Code::ApprovalNeeded
            | Code::PolicyBudget
            | Code::PrivacyRefused
            | Code::ServerDown
            | Code::LoginNeeded
            | Code::ToolHeldBack
            | Code::Busy
            | Code::BadRequest
            | Code::Cancelled
            | Code::Workspace
            | Code::Configuration
            | Code::EngineNotAllowed
            | Code::WorkerUnavailable
            | Code::WorkerLost
            | Code::WorkerMisbehaved
            | Code::NodeLost
            | Code::NoNode
            | Code::NotShared
    );
    !is_in_the_way && report.broke.is_none()
}
