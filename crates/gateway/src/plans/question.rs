//! A person is asked about a plan: one question that lists every write.

use std::fmt::Write as _;
use std::time::Duration;

use gristmill_domain::{Code, counted};

use super::{Plans, unknown};
use crate::ids::Caller;
use crate::ports::{Asker, Question, QuestionAnswer, QuestionKind, Write};
use crate::report::Refusal;
use crate::store::{PlanRecord, PlanState};

/// How often another process's answer is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Writes that a question lists. Nobody reads more in a dialog, and nobody approves what they are not shown.
const LISTED_MAX: usize = 50;

/// What became of the question.
enum Said {
    Yes,
    No,
    Nothing,
    /// With `gristmill approvals`.
    Elsewhere(PlanState),
}

impl Plans {
    /// The state in which the plan may be taken: a person has said yes, before or just now.
    pub(super) async fn approved(
        &self,
        caller: &Caller,
        plan: &PlanRecord,
        asker: &Asker,
    ) -> Result<PlanState, Refusal> {
        if plan.state == PlanState::Approved {
            return Ok(PlanState::Approved);
        }
        if plan.writes.len() > LISTED_MAX {
            return Err(not_approved(plan, "it has more writes than a question can show"));
        }
        if !asker.can_answer(&QuestionKind::Plan) {
            return Err(not_approved(plan, "nobody can be asked here"));
        }
        let question =
            Question { server: String::new(), message: words(caller, plan), asked: QuestionKind::Plan };
        let said = tokio::select! {
            answer = asker.ask(question) => read_answer(answer),
            state = self.answered_elsewhere(plan) => Said::Elsewhere(state),
        };
        let by = if caller.client.is_some() { "client" } else { "terminal" };
        match said {
            Said::Yes => {
                plan.approval_events(caller, true, by).into_iter().for_each(|event| self.store.note(event));
                Ok(PlanState::Waiting)
            }
            Said::No => {
                // If that fails it waits, and has not run.
                let _ = self.store.answer_plan(&plan.id, false).await;
                plan.approval_events(caller, false, by).into_iter().for_each(|event| self.store.note(event));
                Err(denied(plan))
            }
            Said::Nothing => Err(not_approved(plan, "nobody answered")),
            Said::Elsewhere(PlanState::Waiting | PlanState::Approved) => Ok(PlanState::Approved),
            Said::Elsewhere(PlanState::Denied) => Err(denied(plan)),
            Said::Elsewhere(PlanState::Used) => Err(unknown(&plan.id)),
        }
    }

    async fn answered_elsewhere(&self, plan: &PlanRecord) -> PlanState {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            match self.store.plan_of(&plan.owner, &plan.id).await {
                Ok(Some(now)) if now.state != PlanState::Waiting => return now.state,
                Ok(None) => return PlanState::Used,
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }
}

pub(super) fn denied(plan: &PlanRecord) -> Refusal {
    Refusal::new(
        Code::ApprovalNeeded,
        format!("the user didn't approve the plan `{}`; nothing ran", plan.id),
        "don't try it in another way; ask the user what to do instead",
    )
}

fn not_approved(plan: &PlanRecord, why: &str) -> Refusal {
    Refusal::new(
        Code::ApprovalNeeded,
        format!("the plan `{}` needs the user's approval, and {why}; nothing ran", plan.id),
        format!("they can approve it with `gristmill approvals allow {0}`; then run the plan again", plan.id),
    )
}

fn read_answer(answer: Option<QuestionAnswer>) -> Said {
    match answer {
        Some(QuestionAnswer::Accept(content)) => {
            let said = content.as_ref().and_then(|content| content.get("answer")?.as_str());
            match said {
                Some("once") => Said::Yes,
                // An answer that is none of those that were offered is no yes.
                Some(_) | None => Said::No,
            }
        }
        Some(QuestionAnswer::Decline) => Said::No,
        Some(QuestionAnswer::Cancel) | None => Said::Nothing,
    }
}

/// What a person reads: ours, but for the names and the arguments, which are on one line each.
fn words(caller: &Caller, plan: &PlanRecord) -> String {
    let writes = counted(plan.writes.len(), "write");
    let mut words = format!(
        "May {} run the plan {} once? It can make {writes}, each once and no others:",
        caller.in_words(),
        plan.id
    );
    for (number, write) in plan.writes.iter().enumerate() {
        let _ = write!(words, "\n{}. {}", number + 1, line(write));
    }
    words
}

fn line(write: &Write) -> String {
    format!("{} {} ({})", write.name(), write.shown_arguments(), write.effect)
}
