//! What a program asks of the gateway, read from its JSON within bounds.

use gristmill_domain::Code;
use gristmill_protocol::{CALL_PAYLOAD_BYTES_MAX, CallKind, Completion, JSON_DEPTH_MAX, JsonCaps};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_failure::{KEPT_MESSAGE_CHARS_MAX, failure};
use super::call_room::{weight_of_analysis, weight_of_call};
use super::privacy_call::PrivacyPayload;
use crate::analysis::AnalysisCall;
use crate::ports::ToolSearch;
use crate::report::cut;
use crate::skills::SkillCall;

/// Far more values than any sensible call has; a text of commas costs memory when it is parsed.
const CALL_VALUES_MAX: usize = 1_000_000;

/// Under which a question about earlier programs is reported.
const GET_EXECUTION_STATS: &str = "get_execution_stats";

/// Under which the reading of a resource is reported.
const READ_RESOURCE: &str = "read_resource";

/// A name longer than this is not one.
const TOOL_NAME_BYTES_MAX: usize = 256;

/// What a program asks of the gateway.
pub(super) enum ProgramRequest {
    /// To call a tool, to read a resource, to do something with skills, or to analyze data.
    Call(Call),
    /// To look for tools.
    Search(ToolSearch),
}

/// A call that could be read.
///
/// Its arguments stay text until it begins: parsed they can take many times the memory.
#[derive(Debug)]
pub(super) struct Call {
    pub id: u64,
    pub line: Option<u64>,
    pub name: String,
    pub request: CallRequest,
    /// What it takes in memory while it waits for its turn.
    pub payload_bytes: usize,
    /// What it takes, at most, once it has begun.
    pub weight_bytes: usize,
}

/// What a call is for.
#[derive(Debug)]
pub(super) enum CallRequest {
    /// To call a tool with these arguments.
    Tool(Option<Box<RawValue>>),
    /// To read what has this URI.
    Resource(String),
    /// To list, save or delete skills.
    Skill(Box<SkillCall>),
    Analysis(Box<AnalysisCall>),
    /// To be told what earlier programs took and saved.
    Stats(StatsPayload),
    /// To hide, restore or compare personal data.
    Privacy(Box<PrivacyPayload>),
}

/// Whom a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallTarget {
    /// A tool, which a model could call as well, if it had its definition.
    Tool,
    /// A resource of a server.
    Resource,
    Internal,
}

impl Call {
    pub fn target(&self) -> CallTarget {
        match &self.request {
            CallRequest::Tool(_) => CallTarget::Tool,
            CallRequest::Resource(_) => CallTarget::Resource,
            CallRequest::Skill(_)
            | CallRequest::Analysis(_)
            | CallRequest::Stats(_)
            | CallRequest::Privacy(_) => CallTarget::Internal,
        }
    }

    /// Whether it can reach anything outside. An analysis computes here and changes nothing, however often
    /// it is done.
    pub fn leaves_gateway(&self) -> bool {
        match &self.request {
            CallRequest::Tool(_) | CallRequest::Resource(_) | CallRequest::Skill(_) => true,
            CallRequest::Analysis(_) | CallRequest::Stats(_) | CallRequest::Privacy(_) => false,
        }
    }

    /// What a model would have written in the program's place.
    pub fn arguments_text(&self) -> &str {
        match &self.request {
            CallRequest::Tool(arguments) => arguments.as_deref().map_or("{}", RawValue::get),
            CallRequest::Resource(uri) => uri,
            // No tool of a server: its code is in the program already.
            CallRequest::Skill(_) | CallRequest::Stats(_) | CallRequest::Privacy(_) => "",
            CallRequest::Analysis(call) => call.request_text(),
        }
    }
}

/// What the guest writes to call a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolPayload {
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    #[serde(default)]
    line: Option<u64>,
}

/// What the guest writes to read a resource.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResourcePayload {
    uri: String,
    #[serde(default)]
    line: Option<u64>,
}

/// What the guest writes to ask about earlier programs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatsPayload {
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub all: bool,
    #[serde(default)]
    line: Option<u64>,
}

/// Reads what a program asks; the error is what the program is told.
pub(super) fn parse(id: u64, kind: CallKind, payload: &str) -> Result<ProgramRequest, Completion> {
    let refuse =
        |message: String| failure(id, "bad_call", Code::BadCall, &cut(&message, KEPT_MESSAGE_CHARS_MAX), "");
    // What is analyzed stays text in this process: its values cost nothing here.
    let is_analysis = kind == CallKind::Analyze;
    let caps = JsonCaps {
        bytes_max: CALL_PAYLOAD_BYTES_MAX,
        depth_max: JSON_DEPTH_MAX,
        values_max: if is_analysis { CALL_PAYLOAD_BYTES_MAX } else { CALL_VALUES_MAX },
    };
    let values =
        caps.check(payload.as_bytes()).map_err(|error| refuse(format!("the call's arguments: {error}")))?;
    let unreadable = |error: serde_json::Error| refuse(format!("can't read the call: {error}"));
    let (name, line, request) = match kind {
        CallKind::Search => {
            let read = serde_json::from_str(payload);
            return read
                .map(ProgramRequest::Search)
                .map_err(|error| refuse(format!("can't read the search: {error}")));
        }
        CallKind::Resource => {
            let ResourcePayload { uri, line } = serde_json::from_str(payload).map_err(unreadable)?;
            (READ_RESOURCE.to_owned(), line, CallRequest::Resource(uri))
        }
        CallKind::Skill => {
            let call = SkillCall::read(payload).map_err(unreadable)?;
            (call.name().to_owned(), call.line(), CallRequest::Skill(Box::new(call)))
        }
        CallKind::Analyze => {
            let call = AnalysisCall::read(payload).map_err(unreadable)?;
            (AnalysisCall::NAME.to_owned(), call.line(), CallRequest::Analysis(Box::new(call)))
        }
        CallKind::Tool => {
            let ToolPayload { name, arguments, line } = serde_json::from_str(payload).map_err(unreadable)?;
            (name, line, CallRequest::Tool(arguments))
        }
        CallKind::Stats => {
            let asked: StatsPayload = serde_json::from_str(payload).map_err(unreadable)?;
            (GET_EXECUTION_STATS.to_owned(), asked.line, CallRequest::Stats(asked))
        }
        CallKind::Privacy => {
            let asked: PrivacyPayload = serde_json::from_str(payload).map_err(unreadable)?;
            (asked.name().to_owned(), asked.line(), CallRequest::Privacy(Box::new(asked)))
        }
        CallKind::State | CallKind::Result => {
            return Err(refuse("this request is answered by the gateway itself".to_owned()));
        }
    };
    if name.len() > TOOL_NAME_BYTES_MAX {
        return Err(refuse("the tool's name is too long".to_owned()));
    }
    Ok(ProgramRequest::Call(Call {
        id,
        line,
        name,
        request,
        payload_bytes: payload.len(),
        weight_bytes: match is_analysis {
            true => weight_of_analysis(payload.len()),
            false => weight_of_call(payload.len(), values),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(kind: CallKind, payload: &str) -> String {
        match parse(7, kind, payload) {
            Ok(_) => panic!("accepted {payload}"),
            Err(completion) => {
                assert_eq!((completion.id, completion.ok), (7, false));
                completion.payload
            }
        }
    }

    #[test]
    fn a_call_is_read() {
        let call = parse(1, CallKind::Tool, r#"{"name":"a.b","arguments":{"x":1},"line":3}"#);
        let Ok(ProgramRequest::Call(call)) = call else { panic!("no call") };
        assert_eq!((call.line, call.name.as_str()), (Some(3), "a.b"));
        let CallRequest::Tool(Some(arguments)) = call.request else { panic!("no arguments") };
        assert_eq!(arguments.get(), r#"{"x":1}"#);
    }

    #[test]
    fn a_call_weighs_what_all_its_copies_take() {
        let weights = |kind: CallKind, payload: &str| match parse(1, kind, payload) {
            Ok(ProgramRequest::Call(call)) => (call.payload_bytes, call.weight_bytes),
            Ok(ProgramRequest::Search(_)) | Err(_) => panic!("no call"),
        };
        let text = "x".repeat(1 << 20);
        let large = format!(r#"{{"name":"a.b","arguments":{{"x":"{text}"}}}}"#);
        let (payload, weight) = weights(CallKind::Tool, &large);
        assert_eq!(payload, large.len(), "it waits as one text");
        assert!((8 * payload..9 * payload).contains(&weight), "{weight}");
        let rows = vec!["1"; 100_000].join(",");
        let (_, weight) =
            weights(CallKind::Tool, &format!(r#"{{"name":"a.b","arguments":{{"x":[{rows}]}}}}"#));
        assert!(weight > 25 << 20, "a value takes more than its text: {weight}");
        let analysis = format!(r#"{{"data":[{rows}],"request":{{"steps":[]}}}}"#);
        assert_eq!(weights(CallKind::Analyze, &analysis).1, 2 * analysis.len());
    }

    #[test]
    fn the_reading_of_a_resource_is_read() {
        let call = parse(1, CallKind::Resource, r#"{"uri":"gristmill://a/b","line":3}"#);
        let Ok(ProgramRequest::Call(call)) = call else { panic!("no call") };
        assert_eq!((call.line, call.name.as_str()), (Some(3), "read_resource"));
        let CallRequest::Resource(uri) = call.request else { panic!("no resource") };
        assert_eq!(uri, "gristmill://a/b");
        assert!(refused(CallKind::Resource, r#"{"name":"a.b"}"#).contains("unknown field `name`"));
    }

    #[test]
    fn an_analysis_is_read_and_its_values_are_not_counted_against_it() {
        let rows = vec!["1"; CALL_VALUES_MAX + 1].join(",");
        let payload = format!(r#"{{"data":[{rows}],"request":{{"steps":[]}},"line":3}}"#);
        let Ok(ProgramRequest::Call(call)) = parse(1, CallKind::Analyze, &payload) else { panic!("no call") };
        assert_eq!((call.line, call.name.as_str()), (Some(3), "analyze"));
        assert_eq!(call.arguments_text(), r#"{"steps":[]}"#);
        assert!(!call.leaves_gateway(), "it is in no list of what had been done");
        assert!(refused(CallKind::Analyze, r#"{"request":{},"path":"x"}"#).contains("unknown field `path`"));
    }

    #[test]
    fn forged_calls_are_answered_with_a_reason() {
        assert!(refused(CallKind::Tool, "not json").contains("can't read the call"));
        assert!(refused(CallKind::Tool, r#"{"name":"x","as":"root"}"#).contains("unknown field `as`"));
        assert!(refused(CallKind::Tool, &"[".repeat(100_000)).contains("nested deeper"));
        let echoed = refused(CallKind::Tool, &format!(r#"{{"{}":1}}"#, "x".repeat(1_000_000)));
        assert!(echoed.len() < 1000, "what is refused does not come back whole");
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(1000));
        assert!(refused(CallKind::Tool, &long).contains("too long"));
    }
}
