//! Calls that need approval, asked about on the terminal that a program was started from.

use std::io::{IsTerminal, stderr, stdin};
use std::sync::Arc;

use gristmill_gateway::domain::policy::Answered;
use gristmill_gateway::ports::{AnswerWay, Ask, Asker, BoxFuture, Question, QuestionAnswer, QuestionKind};
use gristmill_gateway::service::{Answers, Follower};
use serde_json::json;

use crate::terminal::{Printable, ask_afresh, eprint_lines};

/// What can be answered, for a person.
pub const CHOICES: &str = "allow it? [y]es, for this session / [o]nce / [a]lways / [N]o:";

/// The same for a plan.
pub const PLAN_CHOICES: &str = "run it? [y]es, once / [N]o:";

/// What somebody at this terminal can answer.
pub fn answers() -> Answers {
    let approvals = stdin().is_terminal() && stderr().is_terminal();
    Answers { approvals, way: AnswerWay::Terminal, ..Answers::default() }
}

/// What was typed, in terms of the policy. Anything else is no.
pub fn answered(said: &str) -> Answered {
    match said.to_ascii_lowercase().as_str() {
        "y" | "yes" | "s" | "session" => Answered::Session,
        "o" | "once" => Answered::Once,
        "a" | "always" => Answered::Always,
        _ => Answered::No,
    }
}

/// Asks whatever the program's calls need, until it ends.
pub async fn ask_on_terminal(mut follower: Follower) {
    loop {
        let progress = follower.look();
        if progress.report.is_some() {
            return;
        }
        let Some(pending) = progress.questions.into_iter().next() else {
            follower.changed().await;
            continue;
        };
        let message = pending.question.message;
        let is_plan = matches!(pending.question.asked, QuestionKind::Plan);
        let said = tokio::task::spawn_blocking(move || {
            eprint_lines(&Printable::all(&message));
            ask_afresh(if is_plan { PLAN_CHOICES } else { CHOICES })
        });
        let said = answered(&said.await.ok().flatten().unwrap_or_default());
        let said = if is_plan && said.is_yes() { Answered::Once } else { said };
        let answer = QuestionAnswer::Accept(Some(json!({"answer": said.as_str()})));
        follower.answer(pending.number, answer);
    }
}

/// Whoever types the call of one tool has said yes to it. Rules that deny it still do.
pub fn asker_of_a_typed_call() -> Asker {
    Asker::new(Arc::new(Typed))
}

struct Typed;

impl Ask for Typed {
    fn ask(&self, _question: Question) -> BoxFuture<'static, QuestionAnswer> {
        Box::pin(async { QuestionAnswer::Accept(Some(json!({"answer": Answered::Once.as_str()}))) })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        matches!(kind, QuestionKind::Approval)
    }

    fn way(&self) -> AnswerWay {
        AnswerWay::Command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_a_yes_is_a_no() {
        for (said, expected) in [
            ("y", Answered::Session),
            ("Once", Answered::Once),
            ("a", Answered::Always),
            ("", Answered::No),
            ("n", Answered::No),
            ("sure", Answered::No),
        ] {
            assert_eq!(answered(said), expected, "{said}");
        }
    }
}
