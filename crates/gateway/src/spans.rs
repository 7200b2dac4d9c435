//! What is traced of an execution and of a call. A span of each, with what came of it.
//!
//! Walls: names, codes, sizes and times. Never what a program says, sends or gets, and no text of an error,
//! which may quote it.

use std::sync::atomic::{AtomicBool, Ordering};

use gristmill_domain::Code;
use gristmill_protocol::EngineId;
use tracing::field::Empty;
use tracing::{Span, debug_span, info_span};

use crate::ids::{Caller, ExecutionId, TraceContext};
use crate::ports::{CallEnd, CallFacts, RequestKind};
use crate::report::Report;

/// What a log's filter calls the parts of the gateway.
pub(crate) const EXECUTION: &str = "gristmill::execution";
pub(crate) const POOL: &str = "gristmill::pool";
pub(crate) const SERVERS: &str = "gristmill::servers";

/// Whether executions that no caller traces are traced. One for the process, as are those who listen.
static TRACES_ALL: AtomicBool = AtomicBool::new(false);

/// Has every execution traced from now on, and what is sent to servers in one say so.
pub fn trace_every_execution() {
    TRACES_ALL.store(true, Ordering::Relaxed);
}

/// The place of something new in its caller's trace, or in one of its own.
pub(crate) fn begin_trace(caller: Option<&TraceContext>) -> Option<TraceContext> {
    match caller {
        Some(caller) => caller.child(),
        None if TRACES_ALL.load(Ordering::Relaxed) => TraceContext::root(),
        None => None,
    }
}

/// A stage of an execution, and what it may say of itself with [`say`]. Of a debugged session's it is logged
/// whatever the log's level is: by a target that has a level of its own.
macro_rules! stage {
    ($caller:expr, $name:literal $(, $field:ident)*) => {
        match $caller.is_debugged {
            false => tracing::debug_span!(
                target: "gristmill::execution", $name, refused = tracing::field::Empty
                $(, $field = tracing::field::Empty)*
            ),
            true => tracing::debug_span!(
                target: "gristmill::debug::execution", $name, refused = tracing::field::Empty
                $(, $field = tracing::field::Empty)*
            ),
        }
    };
}
pub(crate) use stage;

/// Something within a stage, in the same way.
macro_rules! step {
    ($is_debugged:expr, $($said:tt)+) => {
        match $is_debugged {
            false => tracing::debug!(target: "gristmill::execution", $($said)+),
            true => tracing::debug!(target: "gristmill::debug::execution", $($said)+),
        }
    };
}
pub(crate) use step;

/// Says something of the stage that it is called in.
pub(crate) fn say(record: impl FnOnce(&Span)) {
    let span = Span::current();
    if !span.is_disabled() {
        record(&span);
    }
}

/// One execution, from the request to its answer. `trace` is its own place in the caller's trace, `parent` the
/// caller's.
pub(crate) fn execution(
    id: &ExecutionId,
    caller: &Caller,
    engine: EngineId,
    code_bytes: usize,
    parent: Option<&TraceContext>,
) -> Span {
    let span = info_span!(
        target: EXECUTION,
        "execution",
        outcome = Empty,
        code = Empty,
        run_ms = Empty,
        calls = Empty,
        calls_failed = Empty,
        language = engine.name(),
        code_bytes,
        stdout_bytes = Empty,
        stderr_bytes = Empty,
        memory_peak_bytes = Empty,
        answer_tokens = Empty,
        execution = id.as_str(),
        session = Empty,
        owner = caller.owner.0.as_str(),
        client = Empty,
        trace_id = Empty,
        span_id = Empty,
        parent_id = Empty,
        sampled = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    record_caller(&span, caller);
    record_trace(&span, caller.trace.as_ref(), parent);
    span
}

fn record_trace(span: &Span, trace: Option<&TraceContext>, parent: Option<&TraceContext>) {
    if let Some(trace) = trace {
        span.record("sampled", trace.is_sampled())
            .record("trace_id", trace.trace_id())
            .record("span_id", trace.span_id());
    }
    if let Some(parent) = parent {
        span.record("parent_id", parent.span_id());
    }
}

fn record_caller(span: &Span, caller: &Caller) {
    if let Some(client) = &caller.client {
        span.record("client", client.name.as_str());
    }
    if let Some(session) = &caller.session {
        span.record("session", session.as_str());
    }
}

/// It has its session. To be called within its span, and within none of its stages.
pub(crate) fn placed(caller: &Caller, engine: EngineId) {
    Span::current().record("language", engine.name());
    if let Some(session) = &caller.session {
        Span::current().record("session", session.as_str());
    }
}

/// What came of it.
pub(crate) fn ended(span: &Span, report: &Report, answer_tokens: Option<u64>) {
    if span.is_disabled() {
        return;
    }
    let outcome = match &report.error {
        None => "ok",
        Some(error) if error.code == Code::Cancelled => "canceled",
        Some(_) => "failed",
    };
    span.record("outcome", outcome)
        .record("run_ms", (report.execution_time_ms * 1000.0).round() / 1000.0)
        .record("calls", report.tools_called.len())
        .record("calls_failed", report.tools_called.iter().filter(|called| !called.ok).count())
        .record("stdout_bytes", report.stdout.len())
        .record("stderr_bytes", report.stderr.len())
        .record("memory_peak_bytes", report.memory_peak_bytes);
    if let Some(error) = &report.error {
        span.record("code", error.code.as_str());
    }
    if let Some(session) = &report.session {
        span.record("session", session.id.as_str());
    }
    if let Some(tokens) = answer_tokens {
        span.record("answer_tokens", tokens);
    }
}

macro_rules! call_span {
    ($target:literal, $caller:expr, $kind:expr) => {
        debug_span!(
            target: $target,
            "call",
            method = method($kind),
            server = Empty,
            tool = Empty,
            outcome = Empty,
            code = Empty,
            decision = Empty,
            rule = Empty,
            answered = Empty,
            was_sent = Empty,
            request_bytes = Empty,
            values_restored = Empty,
            answer_bytes = Empty,
            execution = Empty,
            session = Empty,
            owner = $caller.owner.0.as_str(),
            client = Empty,
            trace_id = Empty,
            span_id = Empty,
            parent_id = Empty,
            sampled = Empty,
        )
    };
}

/// One request at the door. What is asked for has a name once a server has it: before, it may be anything.
pub(crate) fn call(caller: &Caller, kind: RequestKind, trace: Option<&TraceContext>) -> Span {
    let span = match caller.is_debugged {
        false => call_span!("gristmill::door", caller, kind),
        true => call_span!("gristmill::debug::door", caller, kind),
    };
    if span.is_disabled() {
        return span;
    }
    record_caller(&span, caller);
    record_trace(&span, trace, caller.trace.as_ref());
    if let Some(execution) = &caller.execution {
        span.record("execution", execution.as_str());
    }
    span
}

/// What came of it.
pub(crate) fn passed(span: &Span, facts: &CallFacts) {
    if span.is_disabled() {
        return;
    }
    if let Some(server) = &facts.server {
        span.record("server", server.as_str());
        // A URI may say anything.
        if facts.kind == RequestKind::CallTool {
            span.record("tool", facts.name.as_str());
        }
    }
    if let Some(decided) = &facts.decision {
        span.record("decision", decided.decision.as_str()).record("rule", &*decided.rule);
        if let Some(answer) = decided.answer {
            span.record("answered", answer.as_str());
        }
    }
    span.record("request_bytes", facts.request_bytes).record("answer_bytes", facts.answer_bytes);
    if !facts.restored.is_empty() {
        span.record("values_restored", facts.restored.len());
    }
    match facts.end {
        CallEnd::Answered => span.record("outcome", "ok").record("was_sent", true),
        CallEnd::Held => span.record("outcome", "held").record("was_sent", false),
        CallEnd::Cancelled { was_sent } => span.record("outcome", "canceled").record("was_sent", was_sent),
        CallEnd::Failed { code, was_sent } => {
            span.record("outcome", "failed").record("code", code.as_str()).record("was_sent", was_sent)
        }
    };
}

/// As the protocol calls it.
fn method(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::CallTool => "tools/call",
        RequestKind::ReadResource => "resources/read",
        RequestKind::GetPrompt => "prompts/get",
    }
}
