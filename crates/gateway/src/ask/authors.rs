//! Who writes, one after the other: each model with its repairs, then the rules.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::attempt::{Attempted, attempt};
use super::course::Course;
use super::event::AskEnding;
use super::limits::WORDS_MAX;
use super::pick::Picked;
use super::prompt::Conversation;
use super::write::{NotDrafted, write, write_by_rules};
use crate::ports::{Model, RuleWriter};

/// Goes on with the next writer, for this reason.
pub(super) type Next = ControlFlow<AskEnding, String>;

/// Has a model write, and repair what it wrote.
pub(super) async fn by_model(course: &mut Course, picked: &Picked, model: &Arc<dyn Model>) -> Next {
    let mut conversation = Conversation::begin(course, picked);
    let mut without_program = 0;
    loop {
        let draft = match write(course, model, &conversation).await {
            Ok(draft) => draft,
            Err(NotDrafted::Failed(reason)) => return ControlFlow::Continue(reason),
            Err(NotDrafted::UsedUp(what)) => {
                course.reasons.push(what.clone());
                course.failure = Some(match course.failure.take() {
                    Some(before) => format!("{before}; {what}"),
                    None => what,
                });
                let has_program = course.last.program.is_some();
                return ControlFlow::Break(if has_program {
                    AskEnding::Failed
                } else {
                    AskEnding::NotWritten
                });
            }
            Err(NotDrafted::Words { said, why }) => {
                without_program += 1;
                if without_program >= WORDS_MAX {
                    let said = gristmill_domain::one_line(&said, 300);
                    return ControlFlow::Continue(format!("{why}: {said}"));
                }
                conversation.ask_for_a_program(&said);
                continue;
            }
        };
        match attempt(course, picked, draft).await {
            Attempted::Ended(ending) => return ControlFlow::Break(ending),
            Attempted::Repairable { program, failure } => {
                if course.attempts > course.request.limits.repairs {
                    return ControlFlow::Break(AskEnding::Failed);
                }
                conversation.repair(program.engine, &program.code, &failure, &course.made);
            }
        }
    }
}

/// Has the rules write. They repair nothing.
pub(super) async fn by_rules(course: &mut Course, picked: &Picked, rules: &dyn RuleWriter) -> Next {
    match write_by_rules(course, picked, rules).await {
        Ok(draft) => match attempt(course, picked, draft).await {
            Attempted::Ended(ending) => ControlFlow::Break(ending),
            Attempted::Repairable { .. } => ControlFlow::Break(AskEnding::Failed),
        },
        Err(
            NotDrafted::Failed(reason) | NotDrafted::UsedUp(reason) | NotDrafted::Words { why: reason, .. },
        ) => ControlFlow::Continue(reason),
    }
}
