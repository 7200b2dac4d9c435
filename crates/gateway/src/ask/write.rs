//! Write: a model or the rules make a program of the prompt.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

use super::course::Course;
use super::event::{AskEvent, AskedProgram, Author};
use super::extract::program_in;
use super::limits::{ANSWER_BYTES_MAX, PIECE_BYTES_MAX};
use super::pick::{Chosen, Picked};
use super::prompt::Conversation;
use crate::ports::{
    Ending, Model, RuleCandidate, RuleOutcome, RuleTask, RuleWriter, TokensUsed, WritingWatch, Written,
};
use crate::tokens;

/// Of why a model is asked once more.
const AGAIN_CHARS_MAX: usize = 500;

/// A program that somebody wrote.
pub(super) struct Draft {
    pub program: AskedProgram,
}

/// There is none.
pub(super) enum NotDrafted {
    /// This writer won't write one: why.
    Failed(String),
    /// It answered with words, and may be asked again.
    Words { said: String, why: String },
    /// Nothing more may be spent: what ran out.
    UsedUp(String),
}

/// Has a model write.
pub(super) async fn write(
    course: &mut Course,
    model: &Arc<dyn Model>,
    conversation: &Conversation,
) -> Result<Draft, NotDrafted> {
    if let Some(what) = course.used_up() {
        return Err(NotDrafted::UsedUp(what));
    }
    let prompt_tokens = conversation.tokens() as u64;
    let left = course.request.limits.total_tokens - course.spent.tokens.input - course.spent.tokens.output;
    if prompt_tokens > left {
        return Err(NotDrafted::UsedUp(format!(
            "{left} tokens are left, and the prompt takes {prompt_tokens}"
        )));
    }
    let author = Author::Model(model.name());
    course.tell(AskEvent::Prompted { author: author.clone(), prompt: conversation.prompt().clone() }).await;
    let pieces = Pieces { events: course.events(), told: AtomicUsize::new(0) };
    let writing = model.write(conversation.prompt(), &pieces);
    let written = match tokio::time::timeout_at(course.until(), writing).await {
        Ok(Ok(written)) => written,
        Ok(Err(failure)) => {
            // Whoever tells of it names the model.
            let (said, provider) = (failure.to_string(), format!("{} ", model.name().provider));
            let said = said.strip_prefix(&provider).unwrap_or(&said);
            return Err(NotDrafted::Failed(said.to_owned()));
        }
        Err(_) => {
            let seconds = course.request.limits.total_time.as_secs();
            return Err(NotDrafted::UsedUp(format!("it took longer than {seconds} s")));
        }
    };
    let tokens = used(&written, prompt_tokens);
    let price = course.spend(tokens, model.price());
    let code = match (written.ending, program_in(&written.text, course.request.engine)) {
        (Ending::Refused, _) => {
            return Err(NotDrafted::Failed("it declined to write the program".to_owned()));
        }
        (Ending::Finished | Ending::Length, Ok(code)) => code,
        (Ending::Length, Err(_)) => {
            let why = "its answer was cut off before it had a program".to_owned();
            return Err(NotDrafted::Words { said: written.text, why });
        }
        (Ending::Finished, Err(why)) => {
            return Err(NotDrafted::Words { said: written.text, why: why.to_string() });
        }
    };
    Ok(draft(course, author, (code, Vec::new()), (tokens, price)).await)
}

/// Has the rules write.
pub(super) async fn write_by_rules(
    course: &mut Course,
    picked: &Picked,
    rules: &dyn RuleWriter,
) -> Result<Draft, NotDrafted> {
    let outcome = {
        let candidates: Vec<RuleCandidate<'_>> =
            picked.chosen.iter().filter_map(|one| candidate(picked, one)).collect();
        let (sentence, engine) = (course.request.sentence.as_str(), course.request.engine);
        rules.write(&RuleTask { sentence, engine, tools: &candidates })
    };
    match outcome {
        RuleOutcome::Written { code, assumptions, tools: _ } => {
            let spent = (TokensUsed::default(), Some(0.0));
            Ok(draft(course, Author::Rules, (code, assumptions), spent).await)
        }
        RuleOutcome::Refused { reason, nearest } => {
            course.nearest = nearest;
            Err(NotDrafted::Failed(reason))
        }
    }
}

fn candidate<'p>(picked: &'p Picked, one: &Chosen) -> Option<RuleCandidate<'p>> {
    let (server, tool) = picked.find(&one.name)?;
    let definition = &tool.definition;
    let learned = tool.learned.as_ref().map(|learned| &learned.schema);
    Some(RuleCandidate {
        server: &server.offer.name,
        module: &server.identifier,
        tool: &definition.name,
        function: &tool.identifier,
        description: definition.description.as_deref().unwrap_or_default(),
        input_schema: &definition.input_schema,
        output_schema: definition.output_schema.as_ref().or(learned),
        read_only: definition.read_only == Some(true),
        nearness: one.nearness,
    })
}

async fn draft(
    course: &mut Course,
    author: Author,
    (code, assumptions): (String, Vec<String>),
    (tokens, price): (TokensUsed, Option<f64>),
) -> Draft {
    course.attempts += 1;
    let (attempt, engine) = (course.attempts, course.request.engine);
    let program = AskedProgram { attempt, author, engine, code, assumptions, tokens, price };
    course.last = super::course::Last { program: Some(program.clone()), ..Default::default() };
    course.tell(AskEvent::Program(program.clone())).await;
    Draft { program }
}

/// As the provider counts, or else as we do.
fn used(written: &Written, prompt_tokens: u64) -> TokensUsed {
    written.tokens.unwrap_or_else(|| {
        let text = &written.text[..written.text.floor_char_boundary(ANSWER_BYTES_MAX)];
        TokensUsed { input: prompt_tokens, output: tokens::count(text) as u64 }
    })
}

/// Tells what is being written, as far as somebody looks and as far as it would be read.
struct Pieces {
    events: mpsc::Sender<AskEvent>,
    told: AtomicUsize,
}

impl WritingWatch for Pieces {
    fn piece(&self, text: &str) {
        if self.told.fetch_add(text.len(), Ordering::Relaxed) > ANSWER_BYTES_MAX {
            return;
        }
        let text = text[..text.floor_char_boundary(PIECE_BYTES_MAX)].to_owned();
        // Whoever is slow sees the program when it is done.
        let _ = self.events.try_send(AskEvent::Writing { text });
    }

    fn again(&self, reason: &str) {
        self.told.store(0, Ordering::Relaxed);
        let reason = gristmill_domain::one_line(reason, AGAIN_CHARS_MAX);
        let _ = self.events.try_send(AskEvent::WritingAgain { reason });
    }
}
