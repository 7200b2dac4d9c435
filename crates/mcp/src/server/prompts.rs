//! A server's prompt, filled in. Its server may ask the user something first: that reaches a client of
//! either era, as a request or as an answer to be completed, and the prompt waits meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gristmill_gateway::domain::ToolAnswer;
use gristmill_gateway::ids::ExecutionId;
use gristmill_gateway::ports::{Ask, Asker, BoxFuture, Question, QuestionAnswer, QuestionKind, ToolFailure};
use gristmill_gateway::service::{Answers, PendingQuestion};
use gristmill_gateway::upstream::{DoorRequest, Upstreams};
use parking_lot::Mutex;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
    InputResponses, ResultType,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Map, Value};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::caller::Requester;
use super::offers::{prompt_error, read_result};
use super::request_state::{Asked, Round, digest_of};
use super::{GatewayServer, questions};

/// Prompts that wait for a user at the same time.
const WAITING_MAX: usize = 64;
/// As long as the state that leads back to it is good.
const WAITING_TIME: Duration = Duration::from_secs(15 * 60);

/// What a state belongs to. No tool has this name.
const PROMPT: &str = "prompts/get";

/// Prompts whose users have been asked something, by the id in the request's state.
#[derive(Default)]
pub(super) struct WaitingPrompts(Mutex<HashMap<String, Filling>>);

/// A prompt that is being filled in. Dropping it takes the request back.
struct Filling {
    task: JoinHandle<Result<ToolAnswer, ToolFailure>>,
    desk: Arc<Desk>,
    begun: Instant,
}

/// The questions of one prompt that wait for an answer.
struct Desk {
    answers: Answers,
    open: Arc<Mutex<OpenQuestions>>,
    asked: Arc<Notify>,
}

#[derive(Default)]
struct OpenQuestions {
    next: u64,
    waiting: Vec<(PendingQuestion, oneshot::Sender<QuestionAnswer>)>,
}

/// A client of the older protocol, which is asked by a request.
struct AskedPeer {
    peer: Peer<RoleServer>,
    answers: Answers,
}

impl GatewayServer {
    pub(super) async fn prompt(
        &self,
        requester: &Requester,
        request: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(upstreams) = &self.parts.upstreams else {
            let failure = ToolFailure::UnknownOffer { name: request.name, nearest: Vec::new() };
            return Err(prompt_error(&failure));
        };
        let name = self.restored_name(&requester.caller, &request.name).await;
        let arguments = request.arguments.unwrap_or_default();
        let asked = with_name(&request.name, &arguments);
        if let Some(state) = &request.request_state {
            let (filling, round) = self.prompt_waiting(state, requester, &asked)?;
            filling.desk.answer(&request.input_responses.unwrap_or_default(), round);
            return self.filled_in(filling, requester, &asked).await;
        }
        let answers = requester.answers;
        let asker = |ask: Arc<dyn Ask>| match answers == Answers::default() {
            true => Asker::none(),
            false => Asker::new(ask),
        };
        if !requester.is_modern {
            let asker = asker(Arc::new(AskedPeer { peer: context.peer.clone(), answers }));
            let door = DoorRequest::GetPrompt { name, arguments, asker };
            let answer = upstreams.pass(&requester.caller, door).await;
            return self.complete(requester, answer).await;
        }
        let desk = Arc::new(Desk { answers, open: Arc::default(), asked: Arc::default() });
        let asker = asker(Arc::clone(&desk) as Arc<dyn Ask>);
        let door = DoorRequest::GetPrompt { name, arguments, asker };
        let filling = Filling::begin(upstreams.clone(), requester, door, desk);
        self.filled_in(filling, requester, &asked).await
    }

    /// Waits for the prompt, or for the next question.
    async fn filled_in(
        &self,
        mut filling: Filling,
        requester: &Requester,
        arguments: &Map<String, Value>,
    ) -> Result<GetPromptResponse, ErrorData> {
        loop {
            let pending = filling.desk.pending();
            if !pending.is_empty() {
                let requests = questions::input_requests(&pending);
                if requests.is_empty() {
                    // What can't be put to this client is declined, and the server goes on.
                    filling.desk.decline();
                    continue;
                }
                let last_question = pending.iter().map(|question| question.number).max().unwrap_or_default();
                // Each round has an id of its own.
                let round = Round { number: 0, last_question };
                let id =
                    ExecutionId::new().map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                let asked = Asked { owner: &requester.owner, tool: PROMPT, arguments: digest_of(arguments) };
                let state = self.signer.sign(&id, &asked, round, SystemTime::now());
                self.prompts_waiting.keep(&id, filling);
                return Ok(InputRequiredResult::new(Some(requests), Some(state)).into());
            }
            let desk = Arc::clone(&filling.desk);
            tokio::select! {
                answer = &mut filling.task => {
                    return match answer {
                        Ok(answer) => self.complete(requester, answer).await,
                        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
                    };
                }
                () = desk.asked.notified() => {}
            }
        }
    }

    /// A prompt as its client gets it.
    async fn complete(
        &self,
        requester: &Requester,
        answer: Result<ToolAnswer, ToolFailure>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(failure) => return Err(self.hide_error(&requester.caller, prompt_error(&failure)).await),
        };
        self.hide_json(&requester.caller, &mut answer.json).await;
        let mut result: GetPromptResult = read_result(&answer)?;
        result.result_type = Some(ResultType::COMPLETE);
        Ok(result.into())
    }

    /// The prompt that a request's state leads back to.
    fn prompt_waiting(
        &self,
        state: &str,
        requester: &Requester,
        arguments: &Map<String, Value>,
    ) -> Result<(Filling, Round), ErrorData> {
        let wrong = |message: String| ErrorData::invalid_params(message, None);
        let asked = Asked { owner: &requester.owner, tool: PROMPT, arguments: digest_of(arguments) };
        let (id, round) =
            self.signer.read(state, &asked, SystemTime::now()).map_err(|error| wrong(error.to_string()))?;
        let filling = self.prompts_waiting.0.lock().remove(id.as_str());
        filling.map(|filling| (filling, round)).ok_or_else(|| {
            wrong("the prompt of this requestState is gone; send the request again without it".to_owned())
        })
    }
}

/// What a state is signed for.
fn with_name(name: &str, arguments: &Map<String, Value>) -> Map<String, Value> {
    Map::from_iter([
        ("name".to_owned(), Value::from(name)),
        ("arguments".to_owned(), Value::Object(arguments.clone())),
    ])
}

impl WaitingPrompts {
    fn keep(&self, id: &ExecutionId, filling: Filling) {
        let mut waiting = self.0.lock();
        waiting.retain(|_, filling| filling.begun.elapsed() < WAITING_TIME);
        if waiting.len() >= WAITING_MAX {
            let oldest = waiting.iter().min_by_key(|(_, filling)| filling.begun).map(|(id, _)| id.clone());
            oldest.and_then(|oldest| waiting.remove(&oldest));
        }
        waiting.insert(id.as_str().to_owned(), filling);
    }
}

impl Filling {
    fn begin(upstreams: Upstreams, requester: &Requester, door: DoorRequest, desk: Arc<Desk>) -> Self {
        let caller = requester.caller.clone();
        let task = tokio::spawn(async move { upstreams.pass(&caller, door).await });
        Self { task, desk, begun: Instant::now() }
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Desk {
    fn pending(&self) -> Vec<PendingQuestion> {
        let mut open = self.open.lock();
        open.waiting.retain(|(_, answer)| !answer.is_closed());
        open.waiting.iter().map(|(pending, _)| pending.clone()).collect()
    }

    /// Gives answers to the questions of a round that they belong to; the others stay open.
    fn answer(&self, responses: &InputResponses, round: Round) {
        self.settle(|number| {
            let was_asked = number <= round.last_question;
            was_asked.then(|| questions::answer_to(number, responses)).flatten()
        });
    }

    fn decline(&self) {
        self.settle(|_| Some(QuestionAnswer::Decline));
    }

    fn settle(&self, answer_to: impl Fn(u64) -> Option<QuestionAnswer>) {
        let mut open = self.open.lock();
        for (pending, sender) in std::mem::take(&mut open.waiting) {
            match answer_to(pending.number) {
                // Nobody waits for it any more if it cannot be sent.
                Some(answer) => drop(sender.send(answer)),
                None => open.waiting.push((pending, sender)),
            }
        }
    }
}

impl Ask for Desk {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        let (sender, answer) = oneshot::channel();
        let mut open = self.open.lock();
        let number = open.next;
        open.next += 1;
        open.waiting.push((PendingQuestion { number, question }, sender));
        drop(open);
        self.asked.notify_one();
        Box::pin(async move { answer.await.unwrap_or(QuestionAnswer::Cancel) })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        self.answers.fits(kind)
    }
}

impl Ask for AskedPeer {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        let asking = questions::ask(self.peer.clone(), PendingQuestion { number: 0, question });
        Box::pin(async move { asking.await.1 })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        self.answers.fits(kind)
    }
}
