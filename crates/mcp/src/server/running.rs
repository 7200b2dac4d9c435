//! `execute_code`, `execute_python` and `get_execution`: programs started, waited for and continued.

use std::time::{Duration, SystemTime};

use gristmill_gateway::Report;
use gristmill_gateway::answer::{self as answers, AnswerBudget};
use gristmill_gateway::domain::Code;
use gristmill_gateway::executions::{ExecutionId, Follower, Start};
use gristmill_gateway::history::{Found, RecordedOutcome};
use gristmill_gateway::ports::QuestionAnswer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, InputRequiredResult, InputResponses, MetaObject,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::answer::{self, Answer};
use super::attend::{Attended, Waiting, attend};
use super::caller::Requester;
use super::definitions::OwnTool;
use super::execute_arguments::{ExecuteArguments, Wanted, budget_of, number_text};
use super::request_state::Asked;
use super::{GatewayServer, questions, tasks};

/// How long `get_execution` waits if nothing else is said: less than any client does.
const WAIT_DEFAULT: Duration = Duration::from_secs(45);
const WAIT_MAX: Duration = Duration::from_secs(600);
/// The keys in a result's `_meta`.
const EXECUTION_META: &str = "gristmill/execution";
const TOKENS_META: &str = "gristmill/tokens";

/// Executions in a list.
const LISTED_MAX: usize = 20;

/// One request that has come to be carried out.
pub(super) struct Call<'a> {
    pub tool: OwnTool,
    pub arguments: Map<String, Value>,
    pub state: Option<String>,
    pub responses: InputResponses,
    pub requester: Requester,
    pub context: &'a RequestContext<RoleServer>,
}

impl<'a> Call<'a> {
    pub fn new(
        tool: OwnTool,
        request: CallToolRequestParams,
        arguments: Map<String, Value>,
        requester: Requester,
        context: &'a RequestContext<RoleServer>,
    ) -> Self {
        let responses = request.input_responses.unwrap_or_default();
        Self { tool, arguments, state: request.request_state, responses, requester, context }
    }

    fn asked(&self) -> Asked<'_> {
        Asked { owner: &self.requester.owner, tool: self.tool.name(), arguments: &self.arguments }
    }
}

impl GatewayServer {
    /// Runs a program, or goes on with one that had to ask something.
    pub(super) async fn execute(&self, call: Call<'_>) -> Result<CallToolResponse, ErrorData> {
        let wanted = ExecuteArguments::read(call.arguments.clone());
        let limits = self.parts.executions.gateway().limits();
        let wanted = wanted.and_then(|arguments| arguments.wanted(limits, self.parts.answer_tokens));
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(refused) => return Ok(refused.into_result().into()),
        };
        if let Some(follower) = self.continued(&call)? {
            return Ok(self.wait_for(follower, &call, None, self.answer_until(), true).await);
        }
        let (background, budget) = (wanted.background, wanted.budget);
        let follower = match self.start(wanted, &call) {
            Ok(follower) => follower,
            Err(report) => {
                let refused = answers::of_report(&report, &budget, None, None).await;
                return Ok(answer::of_execution(&refused).into());
            }
        };
        if background {
            return Ok(match call.requester.has_tasks {
                true => tasks::created(&follower).into(),
                false => answer::started(follower.id()).into_result().into(),
            });
        }
        Ok(self.wait_for(follower, &call, None, self.answer_until(), true).await)
    }

    /// Waits for a program that was started before.
    pub(super) async fn get_execution(&self, call: Call<'_>) -> Result<CallToolResponse, ErrorData> {
        let arguments = match ExecutionArguments::read(call.arguments.clone(), self.parts.answer_tokens) {
            Ok(arguments) => arguments,
            Err(refused) => return Ok(refused.into_result().into()),
        };
        let follower = match &arguments.id {
            None => return Ok(self.list_executions(&call.requester).into_result().into()),
            Some(text) => match self.find(text, &call.requester) {
                Ok(follower) => follower,
                Err(refused) => {
                    let told = self.answered_before(text, &call.requester).await.unwrap_or(refused);
                    return Ok(told.into_result().into());
                }
            },
        };
        if call.state.is_some() {
            self.continued(&call)?;
        }
        if arguments.cancel {
            follower.cancel();
        }
        let until = Some(Instant::now() + arguments.wait);
        Ok(self.wait_for(follower, &call, arguments.budget.as_ref(), until, false).await)
    }

    /// The error is the report of a program that did not run.
    fn start(&self, wanted: Wanted, call: &Call<'_>) -> Result<Follower, Box<Report>> {
        let mut request = wanted.request;
        request.own_definition_tokens = self.shown.definition_tokens(call.tool);
        request.changes_skills_as = call.requester.may_change_skills.then(|| call.requester.owner.clone());
        let start = Start {
            owner: call.requester.owner.clone(),
            request,
            session: self.session_choice(wanted.session),
            patience: wanted.patience,
            keep_variables: wanted.keep_variables,
            answers: call.requester.answers,
            answer: wanted.budget,
            answer_is_said: wanted.budget_is_said,
        };
        self.parts.executions.start(start)
    }

    /// The execution that a request's state names, with the answers that came along.
    fn continued(&self, call: &Call<'_>) -> Result<Option<Follower>, ErrorData> {
        let Some(state) = &call.state else { return Ok(None) };
        let wrong = |message: String| ErrorData::invalid_params(message, None);
        let id = self.signer.read(state, &call.asked(), SystemTime::now());
        let id = id.map_err(|error| wrong(error.to_string()))?;
        let follower = self.parts.executions.find(&call.requester.owner, &id);
        let follower = follower.ok_or_else(|| {
            wrong("requestState names a program that is gone; send the request again without it".to_owned())
        })?;
        answer_questions(&follower, &call.responses);
        Ok(Some(follower))
    }

    /// When a client that waits must have an answer, even if that is only that there is none yet.
    fn answer_until(&self) -> Option<Instant> {
        let can_ask_again = self.shown.has(OwnTool::GetExecution);
        can_ask_again.then(|| Instant::now() + self.parts.answer_within)
    }

    /// Waits, and answers within the budget that the program was started with, or within another.
    async fn wait_for(
        &self,
        mut follower: Follower,
        call: &Call<'_>,
        budget: Option<&AnswerBudget>,
        until: Option<Instant>,
        is_ours: bool,
    ) -> CallToolResponse {
        loop {
            let waiting = Waiting { until, is_ours };
            match attend(&mut follower, call.context, &call.requester, waiting).await {
                Attended::Ended(report, made) => {
                    // Whoever took the request back gets no answer, but may still ask.
                    let is_delivered = is_ours && !call.context.ct.is_cancelled();
                    if is_delivered {
                        self.parts.executions.forget(follower.id());
                    }
                    let mut result = match budget {
                        None => answer::of_execution(&made),
                        Some(budget) => {
                            let made = self.parts.executions.answer(&follower, &report, budget).await;
                            answer::of_execution(&made)
                        }
                    };
                    result.meta = meta_of(&report, follower.id());
                    return result.into();
                }
                Attended::Running(progress) => {
                    return answer::of_progress(follower.id(), &progress).into_result().into();
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
                    let round = pending.iter().map(|question| question.number).max().unwrap_or_default();
                    let state = self.signer.sign(follower.id(), &call.asked(), round, SystemTime::now());
                    return InputRequiredResult::new(Some(requests), Some(state)).into();
                }
            }
        }
    }

    /// One of the caller's executions, by what it wrote.
    pub(super) fn find(&self, text: &str, requester: &Requester) -> Result<Follower, Answer> {
        let found = ExecutionId::read(text).and_then(|id| self.parts.executions.find(&requester.owner, &id));
        found.ok_or_else(|| {
            let shown = gristmill_gateway::domain::one_line(text, 40);
            let hint = match requester.is_alone {
                true => "what has ended is kept for 15 minutes; without an id the latest are listed",
                false => "what has ended is kept for 15 minutes",
            };
            Answer::refused(Code::BadRequest, &format!("there is no execution `{shown}`"), Some(hint))
        })
    }

    /// What is said of one of the caller's executions whose answer is gone, if the history knows it.
    async fn answered_before(&self, text: &str, requester: &Requester) -> Option<Answer> {
        let id = ExecutionId::read(text)?;
        let found = self.parts.executions.history()?.find(id.as_str(), Some(&requester.owner)).await.ok()?;
        match found {
            Found::One(record) if record.summary.outcome != RecordedOutcome::Running => {
                let message = format!("the execution `{id}` has ended, and its answer is not kept any more");
                let hint = format!(
                    "it was the answer of the call that ran it, or nobody asked for 15 minutes; at a terminal: `gristmill show {id}`"
                );
                Some(Answer::refused(Code::BadRequest, &message, Some(&hint)))
            }
            Found::One(_) | Found::Nothing | Found::Several(_) => None,
        }
    }

    fn list_executions(&self, requester: &Requester) -> Answer {
        if !requester.is_alone {
            // Others may share the name under which this caller is known.
            return Answer::refused(Code::BadRequest, "say which execution: pass its `id`", None);
        }
        let recent = self.parts.executions.recent(&requester.owner);
        let line = |follower: &Follower| {
            let progress = follower.progress();
            let status = match &progress.report {
                None => progress.status.as_str(),
                Some(report) => answers::status_of(report),
            };
            format!("{}: {status}, {:.1} s", follower.id(), progress.elapsed.as_secs_f64())
        };
        let lines: Vec<String> = recent.iter().take(LISTED_MAX).map(line).collect();
        let text = match lines.is_empty() {
            true => "No program runs, and none has ended unheard.".to_owned(),
            false => lines.join("\n"),
        };
        Answer { text, structured: json!({"status": "listed", "executions": lines}), is_error: false }
    }
}

/// Under which name it is in the history, and what it saved: for programs, at no cost to a model.
fn meta_of(report: &Report, id: &ExecutionId) -> Option<MetaObject> {
    let named = report.is_recorded.then(|| (EXECUTION_META.to_owned(), json!(id.as_str())));
    let tokens = report.tokens.map(|account| (TOKENS_META.to_owned(), json!(account)));
    let members: Map<String, Value> = named.into_iter().chain(tokens).collect();
    (!members.is_empty()).then_some(MetaObject(members))
}

/// Gives answers to the questions that they belong to. What is not asked any more is passed over.
pub(super) fn answer_questions(follower: &Follower, responses: &InputResponses) {
    for pending in follower.progress().questions {
        if let Some(answer) = questions::answer_to(pending.number, responses) {
            follower.answer(pending.number, answer);
        }
    }
}

#[derive(Debug)]
struct ExecutionArguments {
    id: Option<String>,
    wait: Duration,
    cancel: bool,
    /// If it is another than the program was started with.
    budget: Option<AnswerBudget>,
}

impl ExecutionArguments {
    fn read(arguments: Map<String, Value>, tokens: usize) -> Result<Self, Answer> {
        #[derive(Deserialize)]
        struct Sent {
            #[serde(default)]
            id: Option<String>,
            #[serde(default)]
            wait_s: Option<f64>,
            #[serde(default)]
            cancel: bool,
            #[serde(default)]
            max_output_tokens: Option<serde_json::Number>,
            #[serde(default)]
            shape: Option<String>,
        }
        let refused = |message: String| Answer::refused(Code::BadRequest, &message, None);
        let sent: Sent = serde_json::from_value(Value::Object(arguments))
            .map_err(|error| refused(format!("the arguments: {error}")))?;
        let wait = match sent.wait_s {
            None => WAIT_DEFAULT,
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|wait| *wait <= WAIT_MAX)
                .ok_or_else(|| {
                    refused(format!(
                        "wait_s is {}; it can be 0 to {}",
                        number_text(seconds),
                        WAIT_MAX.as_secs()
                    ))
                })?,
        };
        let is_said = sent.max_output_tokens.is_some() || sent.shape.is_some();
        let budget = budget_of(sent.max_output_tokens.as_ref(), sent.shape.as_deref(), tokens)?;
        Ok(Self { id: sent.id, wait, cancel: sent.cancel, budget: is_said.then_some(budget) })
    }
}
