//! Programs that were started: found again, continued with the user's answers, and waited for.

use std::time::SystemTime;

use gristmill_gateway::Report;
use gristmill_gateway::answer::AnswerBudget;
use gristmill_gateway::domain::{Code, one_line};
use gristmill_gateway::ids::ExecutionId;
use gristmill_gateway::ports::QuestionAnswer;
use gristmill_gateway::service::Follower;
use rmcp::model::{CallToolResponse, ErrorData, InputRequiredResult, InputResponses, MetaObject};
use serde_json::{Map, json};
use tokio::time::Instant;

use super::answer::{self, Answer};
use super::attend::{Attended, Waiting, attend};
use super::caller::Requester;
use super::request_state::Round;
use super::tools::{GET_EXECUTION, ToolCall};
use super::{GatewayServer, questions};

/// The keys in a result's `_meta`.
const EXECUTION_META: &str = "gristmill/execution";
const TIME_META: &str = "gristmill/time_ms";
const CALLS_META: &str = "gristmill/calls";
const FINDINGS_META: &str = "gristmill/findings";
const TOKENS_META: &str = "gristmill/tokens";

impl GatewayServer {
    /// The execution that a request's state names, with the answers that came along.
    pub(super) fn continued(&self, call: &ToolCall<'_>) -> Result<Option<Follower>, ErrorData> {
        let Some(state) = &call.state else { return Ok(None) };
        let wrong = |message: String| ErrorData::invalid_params(message, None);
        let read = self.signer.read(state, &call.asked(), SystemTime::now());
        let (id, round) = read.map_err(|error| wrong(error.to_string()))?;
        let follower = self.parts.gateway.service().find(&call.requester.owner, &id);
        let follower = follower.ok_or_else(|| {
            wrong("the program of this requestState is gone; send the request again without it".to_owned())
        })?;
        if !follower.end_round(round.number) {
            return Err(wrong(self.used_state(&id)));
        }
        answer_questions(&follower, &call.responses, Some(round));
        Ok(Some(follower))
    }

    /// What a client can do whose state is used. Its program may have made calls: beginning again is the last resort.
    fn used_state(&self, id: &ExecutionId) -> String {
        let used = "this requestState was used already, and nothing more is answered by it";
        let next = match self.shown.has(&GET_EXECUTION) {
            true => format!("go on from the newest answer, or ask `get_execution` for `{id}` if that was lost"),
            false => "go on from the newest answer; if that was lost, send the request again without requestState, \
                      which runs the program anew"
                .to_owned(),
        };
        format!("{used}; {next}")
    }

    /// A client that waits must have an answer in time, even if that is only that there is none yet.
    pub(super) fn until_answer_is_due(&self) -> Waiting {
        let can_ask_again = self.shown.has(&GET_EXECUTION);
        let until = can_ask_again.then(|| Instant::now() + self.parts.answer_within);
        Waiting { until, is_ours: true }
    }

    /// Whoever is told an id may ask another gateway about it, if others share the state: waits until the program is
    /// recorded. One that still waits for its turn when the answer is due has done nothing.
    pub(super) async fn until_recorded(&self, follower: &mut Follower, call: &ToolCall<'_>) {
        if !self.parts.gateway.shares_state() {
            return;
        }
        tokio::select! {
            () = follower.begun() => {}
            () = tokio::time::sleep(self.parts.answer_within) => {}
            () = call.context.ct.cancelled() => {}
        }
    }

    /// Waits, and answers within the budget that the program was started with, or within another.
    pub(super) async fn wait_for(
        &self,
        mut follower: Follower,
        call: &ToolCall<'_>,
        budget: Option<&AnswerBudget>,
        waiting: Waiting,
    ) -> CallToolResponse {
        loop {
            match attend(&mut follower, call.context, &call.requester, waiting).await {
                Attended::Ended(report, made) => {
                    // Whoever took the request back gets no answer, but may still ask.
                    let is_delivered = waiting.is_ours && !call.context.ct.is_cancelled();
                    if is_delivered {
                        self.parts.gateway.service().forget(follower.id());
                    }
                    let meta = meta_of(&report, follower.id());
                    let Some(budget) = budget else {
                        let mut result = answer::of_execution(&made);
                        result.meta = meta;
                        // One that was canceled may not have begun: then nothing of it was to be safe, and a gateway
                        // that was overtaken cancels all that it has.
                        let is_canceled =
                            report.error.as_ref().is_some_and(|error| error.code == Code::Cancelled);
                        return match is_canceled {
                            true => self.settled_response(call.tool, result.into()).await,
                            false => result.into(),
                        };
                    };
                    // What has no room in this one is kept now.
                    let made = self.parts.gateway.service().answer(&follower, &report, budget).await;
                    let mut result = answer::of_execution(&made);
                    result.meta = meta;
                    return self.settled_response(call.tool, result.into()).await;
                }
                Attended::Running(progress) => {
                    let answer = answer::of_progress(follower.id(), &progress);
                    return self.settled(answer).await.into_result().into();
                }
                Attended::Asking(pending) => {
                    let requests = questions::input_requests(&pending);
                    if requests.is_empty() {
                        // What cannot be put to this client is declined, and the program goes on.
                        for question in &pending {
                            follower.answer(question.number, QuestionAnswer::Decline);
                        }
                        continue;
                    }
                    let last_question = pending.iter().map(|question| question.number).max();
                    let round = Round {
                        number: follower.begin_round(),
                        last_question: last_question.unwrap_or_default(),
                    };
                    let state = self.signer.sign(follower.id(), &call.asked(), round, SystemTime::now());
                    let asking = InputRequiredResult::new(Some(requests), Some(state)).into();
                    return self.settled_response(call.tool, asking).await;
                }
            }
        }
    }

    /// One of the caller's executions, by what it wrote.
    pub(super) fn find(&self, text: &str, requester: &Requester) -> Result<Follower, Answer> {
        let found =
            ExecutionId::read(text).and_then(|id| self.parts.gateway.service().find(&requester.owner, &id));
        found.ok_or_else(|| {
            let shown = one_line(text, 40);
            let hint = match requester.is_alone {
                true => "finished executions are kept for 15 minutes; call without an id to list recent ones",
                false => "finished executions are kept for 15 minutes",
            };
            Answer::refused(Code::BadRequest, &format!("no execution `{shown}`"), Some(hint))
        })
    }
}

/// Its name in the history, and its figures. Some clients show this to their model, so there are no words
/// in it.
fn meta_of(report: &Report, id: &ExecutionId) -> Option<MetaObject> {
    let has_run = report.is_recorded || report.execution_time_ms > 0.0;
    if !has_run {
        return None;
    }
    let mut members = Map::new();
    if report.is_recorded {
        members.insert(EXECUTION_META.to_owned(), json!(id.as_str()));
    }
    members.insert(TIME_META.to_owned(), json!((report.execution_time_ms * 10.0).round() / 10.0));
    members.insert(CALLS_META.to_owned(), json!(report.tools_called.len()));
    if !report.findings.is_empty() {
        members.insert(FINDINGS_META.to_owned(), json!(report.findings.len()));
    }
    if let Some(account) = report.tokens {
        let mut figures = json!(account);
        if let Some(figures) = figures.as_object_mut() {
            figures.retain(|_, figure| !figure.is_string());
        }
        members.insert(TOKENS_META.to_owned(), figures);
    }
    Some(MetaObject(members))
}

/// Gives answers to the questions that they belong to, of one round or of any. What is not asked any more is passed
/// over.
pub(super) fn answer_questions(follower: &Follower, responses: &InputResponses, round: Option<Round>) {
    for pending in follower.progress().questions {
        if round.is_some_and(|round| pending.number > round.last_question) {
            continue;
        }
        if let Some(answer) = questions::answer_to(pending.number, responses) {
            follower.answer(pending.number, answer);
        }
    }
}
