//! From a sentence to a checked program, and to what it gives. Each stage takes what the one before returns:
//!
//! [`pick`] (tools, by search) → [`prompt`] → [`write`](mod@write) (a model, or rules; [`extract`] finds the program) →
//! [`check`] (what is wrong with it, what it would call) → [`consent`] (it only reads, or somebody says yes) → [`run`]
//! → [`attempt`] (how that went; back to `write` with the failure).
//!
//! Walls: what a model says becomes a program behind the wall, or words for a person, and nothing else. A program
//! that runs without a yes can't write: its writes are refused at the door, whatever its text looks like.

mod as_json;
mod attempt;
mod authors;
mod check;
mod consent;
mod course;
mod event;
mod extract;
mod limits;
mod pick;
mod prompt;
mod request;
mod run;
mod skill;
mod words;
mod write;

use std::ops::ControlFlow;
use std::sync::Arc;

use gristmill_domain::cut_chars;
use gristmill_domain::skills::NameError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::service::{Service, World};
use authors::{by_model, by_rules};
use course::Course;
use limits::{EVENTS_MAX, SENTENCE_CHARS_MAX};
use pick::{Picked, pick};
use prompt::Conversation;

pub use event::{
    AskEnding, AskEvent, Asked, AskedProgram, Author, PickedTool, Preview, PreviewedTool, Spent,
};
pub use limits::AskLimits;
pub use request::{AskRequest, ConsentRule, Go};
pub use skill::{NotASkill, skill_of};
pub use words::{is_request, question_words};

/// An ask under way. Dropping it ends it, and stops its program.
pub struct Asking {
    events: mpsc::Receiver<AskEvent>,
    consents: mpsc::Sender<bool>,
    asked: oneshot::Receiver<Asked>,
    _cancel: DropGuard,
}

impl Asking {
    /// The next thing that happens; `None` when nothing more will. An ask whose events are not taken is held up after
    /// some hundred of them; [`Asking::finish`] lets it go on.
    pub async fn next_event(&mut self) -> Option<AskEvent> {
        self.events.recv().await
    }

    /// Says yes or no to the program that waits for it.
    pub fn consent(&self, is_yes: bool) {
        // A second answer to one question is none.
        let _ = self.consents.try_send(is_yes);
    }

    /// What came of it. Events that were not taken are dropped, and nobody says yes any more.
    pub async fn finish(self) -> Option<Asked> {
        let Self { mut events, consents, asked, _cancel } = self;
        events.close();
        drop(consents);
        asked.await.ok()
    }
}

/// Begins on a task of its own.
pub(crate) fn start(world: Arc<World>, service: Service, request: AskRequest) -> Asking {
    let (events, seen) = mpsc::channel(EVENTS_MAX);
    let (consents, answers) = mpsc::channel(1);
    let (told, asked) = oneshot::channel();
    let cancel = CancellationToken::new();
    let cancelled = cancel.clone();
    let runtime = world.core.runtime.clone();
    runtime.spawn(async move {
        let course = Course::new(world, service, request, (events, answers));
        tokio::select! {
            biased;
            () = cancelled.cancelled() => {}
            ended = carry_out(course) => {
                // Nobody waits any more: the work is done all the same.
                let _ = told.send(ended);
            }
        }
    });
    Asking { events: seen, consents, asked, _cancel: cancel.drop_guard() }
}

async fn carry_out(mut course: Course) -> Asked {
    let words = course.request.sentence.trim();
    if let Err(error) = check_task(words) {
        course.reasons.push(error.to_string());
        course.failure = Some(error.to_string());
        return course.end(AskEnding::NotWritten);
    }
    course.sentence = hidden_sentence(&course).await;
    let picked = pick(&course).await;
    course.bad_name = bad_name(&course, &picked);
    if course.bad_name.is_some() {
        return course.end(AskEnding::NotWritten);
    }
    let (tools, left_out) = (picked.listed(), picked.left_out);
    let prompt_tokens = Conversation::begin(&course, &picked).tokens();
    course.tell(AskEvent::Searched { tools, left_out, prompt_tokens }).await;
    let ending = write_by_anyone(&mut course, &picked).await;
    course.end(ending)
}

/// The models in their order, then the rules.
async fn write_by_anyone(course: &mut Course, picked: &Picked) -> AskEnding {
    for reason in course.request.without.clone() {
        course.reasons.push(reason.clone());
        course.tell(AskEvent::Fallback { from: None, reason }).await;
    }
    let mut gave_up = Vec::new();
    for model in course.request.models.clone() {
        let name = Author::Model(model.name()).to_string();
        match by_model(course, picked, &model).await {
            ControlFlow::Break(ending) => return ending,
            ControlFlow::Continue(reason) => gave_up.push(fall_back(course, name, reason).await),
        }
    }
    if let Some(rules) = course.request.rules.clone() {
        match by_rules(course, picked, rules.as_ref()).await {
            ControlFlow::Break(ending) => return ending,
            ControlFlow::Continue(reason) if gave_up.is_empty() => {
                gave_up.push(reason.clone());
                fall_back(course, Author::Rules.to_string(), reason).await;
            }
            ControlFlow::Continue(reason) => {
                gave_up.push(fall_back(course, Author::Rules.to_string(), reason).await);
            }
        }
    }
    if course.nearest.is_empty() {
        course.nearest = picked.listed().into_iter().take(5).map(|tool| tool.name).collect();
    }
    // A program's own failure says more than why nobody wrote another.
    if course.failure.is_none() && !gave_up.is_empty() {
        course.failure = Some(gave_up.join("; "));
    }
    match course.last.program {
        Some(_) => AskEnding::Failed,
        None => AskEnding::NotWritten,
    }
}

/// Tells it, and gives it as one text.
async fn fall_back(course: &mut Course, from: String, reason: String) -> String {
    let told = format!("{from}: {reason}");
    course.reasons.push(told.clone());
    course.tell(AskEvent::Fallback { from: Some(from), reason }).await;
    told
}

/// A task that nobody can write a program for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTask {
    #[error("the task is empty")]
    Empty,
    #[error("the task has {chars} characters, and {SENTENCE_CHARS_MAX} are the most; put data in a file")]
    TooLong { chars: usize },
}

/// Whether a task is short enough, and there at all.
pub fn check_task(words: &str) -> Result<(), BadTask> {
    let chars = words.trim().chars().count();
    match chars {
        0 => Err(BadTask::Empty),
        chars if chars > SENTENCE_CHARS_MAX => Err(BadTask::TooLong { chars }),
        _ => Ok(()),
    }
}

/// Why no skill can have the name that is wanted: a server or a tool has it.
fn bad_name(course: &Course, picked: &Picked) -> Option<NameError> {
    let (name, lookup) = (course.request.save_as.as_ref()?, picked.tools.lookup()?);
    name.check_free_in(lookup.catalogue()).err()
}

/// The task as it may leave this machine: what is personal in it is hidden, as everywhere.
async fn hidden_sentence(course: &Course) -> String {
    let mut sentence = cut_chars(course.request.sentence.trim(), SENTENCE_CHARS_MAX);
    if let Some(veil) = course.world.privacy.as_ref().and_then(|privacy| privacy.veil(&course.request.caller))
    {
        veil.text(&mut sentence).await;
    }
    sentence
}
