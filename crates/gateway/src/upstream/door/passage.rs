//! Measures one request on its way through the door, and has it recorded however it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_domain::policy::Decided;
use gristmill_domain::{ToolAnswer, Transport, answer_shape};
use tracing::Span;

use super::check::Checked;
use super::request::DoorRequest;
use super::resolve::Resolved;
use super::web;
use crate::ids::{Caller, TraceContext};
use crate::ports::{CallEnd, CallFacts, CallObserver, RequestKind, ToolFailure};
use crate::spans;

/// Recorded when it is dropped: whoever is cancelled drops it on the way.
pub(super) struct Passage {
    observer: Option<Arc<dyn CallObserver>>,
    began: Instant,
    facts: Arc<CallFacts>,
    has_left: bool,
    /// Its own place in the caller's trace.
    trace: Option<TraceContext>,
    span: Span,
}

impl Passage {
    /// `name` is what was asked for, as it may be recorded.
    pub fn begin(
        observer: Option<Arc<dyn CallObserver>>,
        caller: &Caller,
        request: &DoorRequest,
        name: String,
    ) -> Self {
        let kind = request.kind();
        let facts = Arc::new(CallFacts {
            caller: caller.clone(),
            line: request.line(),
            kind,
            server: None,
            name,
            decision: None,
            request_bytes: 0,
            arguments: None,
            restored: Vec::new(),
            answer_bytes: 0,
            answer_shape: 0,
            took: Duration::ZERO,
            web: None,
            end: CallEnd::Cancelled { was_sent: false },
        });
        let trace = spans::begin_trace(caller.trace.as_ref());
        let span = spans::call(caller, kind, trace.as_ref());
        Self { observer, began: Instant::now(), facts, has_left: false, trace, span }
    }

    pub fn span(&self) -> Span {
        self.span.clone()
    }

    pub fn trace(&self) -> Option<&TraceContext> {
        self.trace.as_ref()
    }

    pub fn resolved(&mut self, resolved: &Resolved, name: String) {
        let facts = self.facts();
        facts.server = Some(resolved.server.name().to_owned());
        facts.name = name;
    }

    pub fn checked(&mut self, checked: &Checked) {
        let kept = self.observer.as_ref().and_then(|observer| observer.arguments(checked.shown()));
        let facts = self.facts();
        facts.request_bytes = checked.outgoing.arguments().len() as u64;
        facts.arguments = kept;
        facts.restored = checked.personal.told.clone();
        if let Transport::Hosts(_) = checked.server.settings.transport {
            facts.web = web::facts(checked.shown());
        }
    }

    pub fn decided(&mut self, decided: Decided) {
        self.facts().decision = Some(decided);
    }

    /// It is answered without being sent.
    pub fn held(&mut self) {
        self.facts().end = CallEnd::Held;
    }

    /// From here on the server may have it, also if the caller takes it back.
    pub fn sending(&mut self) {
        if let CallEnd::Cancelled { was_sent } = &mut self.facts().end {
            *was_sent = true;
        }
    }

    pub fn sent(&mut self, has_left: bool) {
        self.has_left = has_left;
    }

    pub fn received(&mut self, raw: &str) {
        self.facts().answer_bytes = raw.len() as u64;
    }

    pub fn end(mut self, outcome: &Result<ToolAnswer, ToolFailure>) {
        let wants = self.observer.as_ref().is_some_and(|observer| observer.wants_shapes());
        let has_left = self.has_left;
        let facts = self.facts();
        facts.end = match outcome {
            Ok(_) if facts.end == CallEnd::Held => CallEnd::Held,
            Ok(answer) => {
                if wants && facts.kind == RequestKind::CallTool {
                    facts.answer_shape = answer_shape(&answer.json);
                }
                if let Some(web) = &mut facts.web {
                    web.status = web::status(&answer.json);
                }
                CallEnd::Answered
            }
            Err(failure) => {
                CallEnd::Failed { code: failure.code(), was_sent: has_left || !failure.was_not_sent() }
            }
        };
    }

    /// Nobody else has them before it is over.
    fn facts(&mut self) -> &mut CallFacts {
        Arc::make_mut(&mut self.facts)
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.facts().took = self.began.elapsed();
        spans::passed(&self.span, &self.facts);
        if let Some(observer) = &self.observer {
            observer.passed(&self.facts);
        }
    }
}
