//! One call of a program on its way to the tool and back. The only place where a program's request
//! meets the outside.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use gristmill_domain::{Code, ToolAnswer};
use gristmill_protocol::Completion;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::answer_payload::AnswerPayload;
use super::call_failure::{KEPT_MESSAGE_CHARS_MAX, analysis_failure, failure, tool_failure};
use super::privacy_call::ProgramPrivacy;
use super::program_call::{Call, CallRequest, StatsPayload};
use crate::analysis::{AnalysisFailure, ProgramAnalyses};
use crate::ids::Caller;
use crate::ports::{
    Asker, CallWatcher, ExecutionStats, ProgressSink, SkillOffer, StatsFailure, ToolCall, ToolFailure,
    ToolSearch, Tools, Writes,
};
use crate::report::{ToolCalled, cut};
use crate::skills::ProgramSkills;

/// What a call can reach, and in whose name.
#[derive(Clone)]
pub(super) struct Reachable {
    pub caller: Arc<Caller>,
    pub tools: Arc<dyn Tools>,
    pub skills: Arc<ProgramSkills>,
    pub analyses: Arc<ProgramAnalyses>,
    pub stats: Option<Arc<dyn ExecutionStats>>,
    pub writes: Writes,
    pub privacy: ProgramPrivacy,
}

/// Who hears of a call on its way.
pub(super) struct Listeners {
    pub progress: ProgressSink,
    pub asker: Asker,
    pub watcher: CallWatcher,
}

/// Why a call failed.
enum CallFailure {
    Tool(ToolFailure),
    Analysis(AnalysisFailure),
}

/// A call that ended: what goes back, and what is remembered.
pub(super) struct Answered {
    pub completion: Completion,
    pub called: ToolCalled,
    /// Where in the payload the value stands, without files.
    value: Range<usize>,
}

impl Answered {
    /// What a model would have read in the program's place.
    pub fn answer_text(&self) -> &str {
        match &self.called.error {
            Some(words) => words,
            None => &self.completion.payload[self.value.clone()],
        }
    }
}

/// Looks for tools: it takes milliseconds.
pub(super) async fn search(reached: &Reachable, id: u64, search: &ToolSearch) -> Completion {
    match reached.tools.search(&reached.caller, search, &reached.skills.offer()).await {
        Ok(found) => Completion { id, ok: true, payload: found.to_string() },
        Err(error) => tool_failure(id, &error, "search_tools"),
    }
}

/// Sends it, waits, and words the answer.
pub(super) async fn answer(reached: Reachable, call: Call, listeners: Listeners) -> Answered {
    let argument_bytes = call.arguments_text().len() as u64;
    let leaves_gateway = call.leaves_gateway();
    let Call { id, line, name, request, .. } = call;
    let started = Instant::now();
    let outcome = ask(&reached, &name, request, listeners).await;
    let time_ms = started.elapsed().as_secs_f64() * 1000.0;
    let sent =
        leaves_gateway && !matches!(&outcome, Err(CallFailure::Tool(failure)) if failure.was_not_sent());
    let mut value = 0..0;
    let (completion, error, kept_error) = match outcome {
        Ok(answer) => match AnswerPayload::new(answer) {
            Ok(payload) => {
                value = payload.value;
                (Completion { id, ok: true, payload: payload.text }, None, None)
            }
            Err(error) => {
                let message = error.of_tool(&name);
                let kept = Some(message.clone());
                (failure(id, "limit", Code::CallBytes, &message, &name), Some(message), kept)
            }
        },
        Err(CallFailure::Tool(error)) => {
            (tool_failure(id, &error, &name), Some(error.to_string()), Some(error.kept()))
        }
        Err(CallFailure::Analysis(error)) => {
            let (completion, words) = analysis_failure(id, &error, &name);
            let step = error.step.map(|step| format!(" in step {step}")).unwrap_or_default();
            (completion, Some(words), Some(format!("{}: the analysis failed{step}", error.code)))
        }
    };
    let error = error.map(|message| cut(&message, KEPT_MESSAGE_CHARS_MAX));
    let called = ToolCalled {
        name,
        line,
        ok: completion.ok,
        sent,
        time_ms,
        argument_bytes,
        answer_bytes: error.as_ref().map_or(completion.payload.len(), String::len) as u64,
        argument_tokens: None,
        answer_tokens: None,
        error,
        kept_error,
    };
    Answered { completion, called, value }
}

async fn ask(
    reached: &Reachable,
    name: &str,
    request: CallRequest,
    listeners: Listeners,
) -> Result<ToolAnswer, CallFailure> {
    let Reachable { caller, tools, skills, analyses, stats, writes, privacy } = reached;
    let Listeners { progress, asker, watcher } = listeners;
    let outcome = match request {
        // In boxes of their own: in place, they would make the future of every call as large as the largest.
        CallRequest::Analysis(call) => {
            return Box::pin(analyses.answer(*call)).await.map_err(CallFailure::Analysis);
        }
        CallRequest::Stats(asked) => Box::pin(stats_of(stats.as_deref(), asked)).await,
        CallRequest::Privacy(asked) => Box::pin(privacy.answer(caller, *asked)).await,
        CallRequest::Resource(uri) => tools.read_resource(caller, &uri, watcher).await,
        CallRequest::Skill(call) => Box::pin(skills.answer(*call, tools.as_ref())).await,
        CallRequest::Tool(arguments) => match arguments_from(arguments) {
            Ok(arguments) => {
                let (name, writes) = (name.to_owned(), writes.clone());
                let call = ToolCall { name, arguments, progress, asker, watcher, writes };
                tools.call(caller, call).await.map_err(|error| unless_a_skill(error, &skills.offer()))
            }
            Err(error) => Err(ToolFailure::BadArguments(format!("the arguments aren't an object: {error}"))),
        },
    };
    outcome.map_err(CallFailure::Tool)
}

/// What earlier programs of the same caller took and saved.
async fn stats_of(
    stats: Option<&dyn ExecutionStats>,
    asked: StatsPayload,
) -> Result<ToolAnswer, ToolFailure> {
    let refuse = |why: &str| ToolFailure::BadArguments(why.to_owned());
    if asked.all {
        return Err(refuse("a program sees its own caller's executions only; leave `all` out"));
    }
    let stats = stats.ok_or_else(|| refuse("this gateway records nothing"))?;
    let told = stats.of_caller(asked.session).await;
    let json = told.map_err(|StatsFailure(why)| ToolFailure::BadArguments(why))?;
    Ok(ToolAnswer { json, files: Vec::new() })
}

/// A skill is found beside tools, and then called as if it were one.
fn unless_a_skill(error: ToolFailure, skills: &SkillOffer) -> ToolFailure {
    let meant = match &error {
        ToolFailure::Unknown { name, .. } => skills.meant(name),
        ToolFailure::Ambiguous { .. }
        | ToolFailure::BadArguments(_)
        | ToolFailure::Unfit { .. }
        | ToolFailure::UnknownOffer { .. }
        | ToolFailure::BadUri { .. }
        | ToolFailure::Said(_)
        | ToolFailure::Refused { .. }
        | ToolFailure::Upstream { .. } => None,
    };
    match meant {
        Some((skill, usage)) => ToolFailure::BadArguments(format!(
            "{skill} is a skill: import it instead of calling it as a tool: {usage}"
        )),
        None => error,
    }
}

/// Takes the text: nobody needs it beside what it says.
fn arguments_from(text: Option<Box<RawValue>>) -> serde_json::Result<Map<String, Value>> {
    text.map_or_else(|| Ok(Map::new()), |text| serde_json::from_str(text.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a call is moved as before it begins, three times.
    fn bytes_of_future<A, B, C, F: Future>(_: impl Fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_call_is_small_whatever_else_a_program_may_ask_for() {
        let bytes = bytes_of_future(answer);
        assert!(bytes <= 4 << 10, "{bytes}");
    }
}
