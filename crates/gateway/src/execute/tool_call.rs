//! One call of a program, from its JSON to the tool and back. The only place where a program's
//! request meets the outside.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use gristmill_domain::{Code, ToolAnswer};
use gristmill_protocol::{CALL_PAYLOAD_BYTES_MAX, Completion, JSON_DEPTH_MAX, JsonCaps};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::report::ToolCalled;
use crate::analysis::{AnalysisCall, AnalysisFailure, ProgramAnalyses};
use crate::ports::{Asker, ProgressSink, ToolCall, ToolFailure, ToolSearch, Tools};
use crate::skills::{ProgramSkills, SkillCall, SkillOffer};

/// Far more values than any sensible call has; a text of commas costs memory when it is parsed.
const CALL_VALUES_MAX: usize = 1_000_000;

/// What one parsed value may take in memory beyond its text.
const VALUE_BYTES: usize = 256;

/// Words of a tool that go to the program; what is kept for the report is shorter.
const MESSAGE_CHARS_MAX: usize = 16 * 1024;
const KEPT_MESSAGE_CHARS_MAX: usize = 500;

/// Under which the reading of a resource is reported.
const READ_RESOURCE: &str = "read_resource";

/// A name longer than this is not one.
const TOOL_NAME_BYTES_MAX: usize = 256;

/// A call that is understood.
///
/// Its arguments stay text until it begins: parsed they can take many times the memory.
#[derive(Debug)]
pub(super) struct Call {
    pub id: u64,
    pub line: Option<u64>,
    pub name: String,
    wanted: Wanted,
    /// What it takes in memory while it waits for its turn.
    pub payload_bytes: usize,
    /// What it takes, at most, once it has begun.
    pub weight_bytes: usize,
}

/// What a call is for.
#[derive(Debug)]
enum Wanted {
    /// To call a tool with these arguments.
    Tool(Option<Box<RawValue>>),
    /// To read what has this URI.
    Resource(String),
    /// To list, save or delete skills.
    Skill(Box<SkillCall>),
    /// To analyze data.
    Analysis(Box<AnalysisCall>),
}

/// What a call can reach.
pub(super) struct Reachable {
    pub tools: Arc<dyn Tools>,
    pub skills: Arc<ProgramSkills>,
    pub analyses: Arc<ProgramAnalyses>,
}

/// Why a call failed.
enum CallFailure {
    Tool(ToolFailure),
    Analysis(AnalysisFailure),
}

/// Whom a call reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaches {
    /// A tool, which a model could call as well, if it had its definition.
    Tool,
    /// A resource of a server.
    Resource,
    /// Nobody but us.
    Us,
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

impl Call {
    /// Whom it is for.
    pub fn reaches(&self) -> Reaches {
        match &self.wanted {
            Wanted::Tool(_) => Reaches::Tool,
            Wanted::Resource(_) => Reaches::Resource,
            Wanted::Skill(_) | Wanted::Analysis(_) => Reaches::Us,
        }
    }

    /// Whether it can leave us. An analysis computes here and changes nothing, however often it is done.
    pub fn leaves_us(&self) -> bool {
        match &self.wanted {
            Wanted::Tool(_) | Wanted::Resource(_) | Wanted::Skill(_) => true,
            Wanted::Analysis(_) => false,
        }
    }

    /// What a model would have written in the program's place.
    pub fn arguments_text(&self) -> &str {
        match &self.wanted {
            Wanted::Tool(arguments) => arguments.as_deref().map_or("{}", RawValue::get),
            Wanted::Resource(uri) => uri,
            // No tool of a server: its code is in the program already.
            Wanted::Skill(_) => "",
            Wanted::Analysis(call) => call.request_text(),
        }
    }
}

/// What the guest writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    #[serde(default)]
    line: Option<u64>,
}

/// What the guest writes to read a resource.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRead {
    uri: String,
    #[serde(default)]
    line: Option<u64>,
}

/// What the guest reads when a call failed.
#[derive(Serialize)]
struct Failed<'a> {
    kind: &'a str,
    code: Code,
    message: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_safe: Option<bool>,
    /// In which step of an analysis, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    /// What the engine of analyses would do about it; its words are in the message, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// What a program asks of us.
pub(super) enum Asked {
    /// To call a tool, to read a resource, to do something with skills, or to analyze data.
    Call(Call),
    /// To look for tools.
    Search(ToolSearch),
}

/// What the guest reads when an answer has files; a letter first, which no JSON begins with.
const WITH_FILES: char = 'F';

/// Understands a call, or says why not.
pub(super) fn understand(id: u64, kind: &str, payload: &str) -> Result<Asked, Completion> {
    let refuse =
        |message: String| failure(id, "bad_call", Code::BadCall, &cut(&message, KEPT_MESSAGE_CHARS_MAX), "");
    if !matches!(kind, "tool" | "search" | "resource" | "skill" | "analyze") {
        let shown: String = kind.chars().take(32).collect();
        return Err(refuse(format!("there is no call of kind `{}`", shown.escape_debug())));
    }
    // What is analyzed stays text in this process: its values cost nothing here.
    let is_analysis = kind == "analyze";
    let caps = JsonCaps {
        bytes_max: CALL_PAYLOAD_BYTES_MAX,
        depth_max: JSON_DEPTH_MAX,
        values_max: if is_analysis { CALL_PAYLOAD_BYTES_MAX } else { CALL_VALUES_MAX },
    };
    let values =
        caps.check(payload.as_bytes()).map_err(|error| refuse(format!("the call's arguments: {error}")))?;
    if kind == "search" {
        let read = serde_json::from_str(payload);
        return read
            .map(Asked::Search)
            .map_err(|error| refuse(format!("the search cannot be read: {error}")));
    }
    let unreadable = |error: serde_json::Error| refuse(format!("the call cannot be read: {error}"));
    let (name, line, wanted) = if kind == "resource" {
        let WrittenRead { uri, line } = serde_json::from_str(payload).map_err(unreadable)?;
        (READ_RESOURCE.to_owned(), line, Wanted::Resource(uri))
    } else if kind == "skill" {
        let call = SkillCall::read(payload).map_err(unreadable)?;
        (call.name().to_owned(), call.line(), Wanted::Skill(Box::new(call)))
    } else if is_analysis {
        let call = AnalysisCall::read(payload).map_err(unreadable)?;
        (AnalysisCall::NAME.to_owned(), call.line(), Wanted::Analysis(Box::new(call)))
    } else {
        let Written { name, arguments, line } = serde_json::from_str(payload).map_err(unreadable)?;
        (name, line, Wanted::Tool(arguments))
    };
    if name.len() > TOOL_NAME_BYTES_MAX {
        return Err(refuse("the tool's name is too long to be one".to_owned()));
    }
    Ok(Asked::Call(Call {
        id,
        line,
        name,
        wanted,
        payload_bytes: payload.len(),
        // The text of an analysis is copied once, into its frame.
        weight_bytes: payload.len() + if is_analysis { payload.len() } else { values * VALUE_BYTES },
    }))
}

/// Looks for tools, at once: it takes a millisecond.
pub(super) fn search(tools: &dyn Tools, id: u64, search: &ToolSearch, skills: &SkillOffer) -> Completion {
    match tools.search(search, skills) {
        Ok(found) => Completion { id, ok: true, payload: found.to_string() },
        Err(error) => failure_of(id, &error, "search_tools"),
    }
}

/// Sends it, waits, and words the answer.
pub(super) async fn answer(reached: Reachable, call: Call, progress: ProgressSink, asker: Asker) -> Answered {
    let argument_bytes = call.arguments_text().len() as u64;
    let leaves_us = call.leaves_us();
    let Call { id, line, name, wanted, .. } = call;
    let started = Instant::now();
    let outcome = ask(&reached, &name, wanted, progress, asker).await;
    let time_ms = started.elapsed().as_secs_f64() * 1000.0;
    let sent = leaves_us && !matches!(&outcome, Err(CallFailure::Tool(failure)) if failure.was_not_sent());
    let mut value = 0..0;
    let (completion, error) = match outcome {
        Ok(answer) => match payload_of(answer, &name) {
            Ok((payload, at)) => {
                value = at;
                (Completion { id, ok: true, payload }, None)
            }
            Err(message) => (failure(id, "limit", Code::CallBytes, &message, &name), Some(message)),
        },
        Err(CallFailure::Tool(error)) => {
            let message = cut(&error.to_string(), KEPT_MESSAGE_CHARS_MAX);
            (failure_of(id, &error, &name), Some(message))
        }
        Err(CallFailure::Analysis(error)) => {
            let words = cut(&words_of(&error), MESSAGE_CHARS_MAX);
            let hint = error.hint.as_deref().map(|hint| cut(hint, KEPT_MESSAGE_CHARS_MAX));
            let failed = Failed {
                kind: "analysis",
                code: error.code,
                message: &words,
                tool: &name,
                retry_safe: None,
                step: error.step,
                hint: hint.as_deref(),
            };
            (completion(id, &failed), Some(words))
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
    };
    Answered { completion, called, value }
}

async fn ask(
    reached: &Reachable,
    name: &str,
    wanted: Wanted,
    progress: ProgressSink,
    asker: Asker,
) -> Result<ToolAnswer, CallFailure> {
    let Reachable { tools, skills, analyses } = reached;
    let outcome = match wanted {
        Wanted::Analysis(call) => return analyses.answer(*call).await.map_err(CallFailure::Analysis),
        Wanted::Resource(uri) => tools.read_resource(&uri).await,
        Wanted::Skill(call) => skills.answer(*call, tools.as_ref()).await,
        Wanted::Tool(arguments) => match arguments_from(arguments.as_deref()) {
            Ok(arguments) => {
                let call = ToolCall { name: name.to_owned(), arguments, progress, asker };
                tools.call(call).await.map_err(|error| unless_a_skill(error, &skills.offer()))
            }
            Err(error) => Err(ToolFailure::BadArguments(format!("the arguments are not an object: {error}"))),
        },
    };
    outcome.map_err(CallFailure::Tool)
}

/// What a program reads: where, what, and what to do.
fn words_of(failure: &AnalysisFailure) -> String {
    let step = failure.step.filter(|_| !failure.message.starts_with("step "));
    let step = step.map(|step| format!("step {step}: ")).unwrap_or_default();
    let hint = failure.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{step}{}{hint}", failure.message)
}

/// A skill is found beside tools, and then called as if it were one.
fn unless_a_skill(error: ToolFailure, skills: &SkillOffer) -> ToolFailure {
    let meant = match &error {
        ToolFailure::Unknown { name, .. } => skills.meant(name),
        ToolFailure::Ambiguous { .. }
        | ToolFailure::BadArguments(_)
        | ToolFailure::Said(_)
        | ToolFailure::Upstream { .. } => None,
    };
    match meant {
        Some((skill, usage)) => ToolFailure::BadArguments(format!(
            "{skill} is a skill, which is imported and not called as a tool: {usage}"
        )),
        None => error,
    }
}

fn arguments_from(text: Option<&RawValue>) -> serde_json::Result<Map<String, Value>> {
    text.map_or_else(|| Ok(Map::new()), |text| serde_json::from_str(text.get()))
}

/// The answer as the guest reads it, and where in it the value stands; or why it cannot be handed over.
fn payload_of(answer: ToolAnswer, name: &str) -> Result<(String, Range<usize>), String> {
    #[derive(Serialize)]
    struct WithFiles<'a> {
        value: &'a RawValue,
        files: &'a [gristmill_domain::AnswerFile],
    }
    let caps =
        JsonCaps { bytes_max: CALL_PAYLOAD_BYTES_MAX, depth_max: JSON_DEPTH_MAX, values_max: usize::MAX };
    if answer.bytes() > CALL_PAYLOAD_BYTES_MAX {
        return Err(format!(
            "the answer of `{name}` is {} bytes; at most {CALL_PAYLOAD_BYTES_MAX} can be taken; ask the tool for less",
            answer.bytes()
        ));
    }
    caps.check(answer.json.as_bytes()).map_err(|error| format!("the answer of `{name}`: {error}"))?;
    if answer.files.is_empty() {
        let whole = 0..answer.json.len();
        return Ok((answer.json, whole));
    }
    let unreadable = |error: serde_json::Error| format!("the answer of `{name}` is not JSON: {error}");
    let value: &RawValue = serde_json::from_str(&answer.json).map_err(unreadable)?;
    let payload = serde_json::to_string(&WithFiles { value, files: &answer.files }).map_err(unreadable)?;
    if payload.len() >= CALL_PAYLOAD_BYTES_MAX {
        return Err(format!("the answer of `{name}` is too large with its files; ask the tool for less"));
    }
    // The value is the first member.
    let begin = WITH_FILES.len_utf8() + r#"{"value":"#.len();
    Ok((format!("{WITH_FILES}{payload}"), begin..begin + value.get().len()))
}

/// At most so many characters, with a mark where it was cut.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}

/// A failed call, in the guest's words.
pub(super) fn failure(id: u64, kind: &str, code: Code, message: &str, tool: &str) -> Completion {
    completion(id, &Failed { kind, code, message, tool, retry_safe: None, step: None, hint: None })
}

fn failure_of(id: u64, error: &ToolFailure, tool: &str) -> Completion {
    let (kind, code, retry_safe) = match error {
        ToolFailure::Unknown { .. } | ToolFailure::Ambiguous { .. } => {
            ("unknown_tool", Code::UnknownTool, None)
        }
        ToolFailure::BadArguments(_) => ("bad_arguments", Code::BadCall, None),
        ToolFailure::Said(_) => ("tool", Code::Tool, None),
        ToolFailure::Upstream { code, retry_safe, .. } => ("upstream", *code, Some(*retry_safe)),
    };
    let message = cut(&error.to_string(), MESSAGE_CHARS_MAX);
    completion(id, &Failed { kind, code, message: &message, tool, retry_safe, step: None, hint: None })
}

fn completion(id: u64, failed: &Failed<'_>) -> Completion {
    let payload = serde_json::to_string(failed).unwrap_or_else(|_| "{}".to_owned());
    Completion { id, ok: false, payload }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(kind: &str, payload: &str) -> String {
        match understand(7, kind, payload) {
            Ok(_) => panic!("understood {payload}"),
            Err(completion) => {
                assert_eq!((completion.id, completion.ok), (7, false));
                completion.payload
            }
        }
    }

    #[test]
    fn a_call_is_understood() {
        let call = understand(1, "tool", r#"{"name":"a.b","arguments":{"x":1},"line":3}"#);
        let Ok(Asked::Call(call)) = call else { panic!("no call") };
        assert_eq!((call.line, call.name.as_str()), (Some(3), "a.b"));
        let Wanted::Tool(Some(arguments)) = call.wanted else { panic!("no arguments") };
        assert_eq!(arguments.get(), r#"{"x":1}"#);
    }

    #[test]
    fn the_reading_of_a_resource_is_understood() {
        let call = understand(1, "resource", r#"{"uri":"gristmill://a/b","line":3}"#);
        let Ok(Asked::Call(call)) = call else { panic!("no call") };
        assert_eq!((call.line, call.name.as_str()), (Some(3), "read_resource"));
        let Wanted::Resource(uri) = call.wanted else { panic!("no resource") };
        assert_eq!(uri, "gristmill://a/b");
        assert!(refused("resource", r#"{"name":"a.b"}"#).contains("unknown field `name`"));
    }

    #[test]
    fn an_analysis_is_understood_and_its_values_are_not_counted_against_it() {
        let rows = vec!["1"; CALL_VALUES_MAX + 1].join(",");
        let payload = format!(r#"{{"data":[{rows}],"request":{{"steps":[]}},"line":3}}"#);
        let Ok(Asked::Call(call)) = understand(1, "analyze", &payload) else { panic!("no call") };
        assert_eq!((call.line, call.name.as_str()), (Some(3), "analyze"));
        assert_eq!(call.arguments_text(), r#"{"steps":[]}"#);
        assert!(!call.leaves_us(), "it is in no list of what had been done");
        assert!(refused("analyze", r#"{"request":{},"path":"x"}"#).contains("unknown field `path`"));
    }

    #[test]
    fn forged_calls_are_answered_with_a_reason() {
        assert!(refused("admin", "{}").contains("no call of kind `admin`"));
        assert!(refused("tool", "not json").contains("cannot be read"));
        assert!(refused("tool", r#"{"name":"x","as":"root"}"#).contains("unknown field `as`"));
        assert!(refused("tool", &"[".repeat(100_000)).contains("nested deeper"));
        let echoed = refused("tool", &format!(r#"{{"{}":1}}"#, "x".repeat(1_000_000)));
        assert!(echoed.len() < 1000, "what is refused does not come back whole");
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(1000));
        assert!(refused("tool", &long).contains("too long"));
    }
}
