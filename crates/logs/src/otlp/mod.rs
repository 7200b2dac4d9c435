//! For OpenTelemetry: spans of an execution, its stages and each call, which wait here, encoded, until somebody
//! takes them to a collector; and the figures of `/metrics`.
//!
//! Walls: what is traced has no data of programs in it, so a collector gets none. What nobody takes is lost,
//! and counted.

mod exposition;
mod metrics;
mod protobuf;
mod span;

use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use tracing::Subscriber;
use tracing::field::Visit;
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::fields::Fields;
use crate::filter::DEBUGGED;
use protobuf::Message;
use span::{EndedSpan, attribute};

pub use metrics::metrics_request;

/// Spans that wait: some 4 MB.
const WAITING_MAX: usize = 8192;

/// Spans in one request.
const BATCH_MAX: usize = 512;

/// Ended spans on their way to a collector. Cheap to clone.
#[derive(Clone, Default)]
pub struct SpanQueue(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    spans: Vec<Vec<u8>>,
    lost: u64,
}

/// One request to a collector.
pub struct SpanBatch {
    /// An `ExportTraceServiceRequest`, as protocol buffers.
    pub body: Vec<u8>,
    pub spans: usize,
    /// Spans that were lost before these.
    pub lost: u64,
}

impl SpanQueue {
    /// What goes into the next request; `None` if nothing waits.
    pub fn take(&self, service: &str) -> Option<SpanBatch> {
        let (spans, lost) = {
            let mut waiting = self.0.lock();
            let count = waiting.spans.len().min(BATCH_MAX);
            let spans: Vec<Vec<u8>> = waiting.spans.drain(..count).collect();
            (spans, std::mem::take(&mut waiting.lost))
        };
        if spans.is_empty() {
            return None;
        }
        let count = spans.len();
        Some(SpanBatch { body: request(service, spans.iter().map(Vec::as_slice)), spans: count, lost })
    }

    fn put(&self, span: Vec<u8>) {
        let mut waiting = self.0.lock();
        match waiting.spans.len() < WAITING_MAX {
            true => waiting.spans.push(span),
            false => waiting.lost += 1,
        }
    }
}

/// What is sent of one process: spans, or metrics. Both requests look alike.
fn request<'a>(service: &str, items: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let resource = Message::default()
        .message(1, attribute("service.name", &service.into()))
        .message(1, attribute("service.version", &version.into()))
        .message(1, attribute("process.pid", &std::process::id().into()));
    let scope = Message::default().text(1, "gristmill").text(2, version);
    let scoped = items.fold(Message::default().message(1, scope), |all, item| all.bytes(2, item));
    let all = Message::default().message(1, resource).message(2, scoped);
    Message::default().message(1, all).into_bytes()
}

/// What is exported, whatever is logged.
pub(crate) fn targets() -> Targets {
    Targets::new()
        .with_target("gristmill::execution", LevelFilter::DEBUG)
        .with_target("gristmill::door", LevelFilter::DEBUG)
        .with_target(DEBUGGED, LevelFilter::DEBUG)
}

pub(crate) struct OtlpLayer(pub SpanQueue);

/// Where a span is, and since when.
struct Traced {
    trace: [u8; 16],
    id: [u8; 8],
    parent: Option<[u8; 8]>,
    is_sampled: bool,
    began: SystemTime,
    fields: Fields,
}

impl Traced {
    /// What a span says of itself goes before what the one around it says.
    fn settle(&mut self) {
        let field = |name: &str| {
            let found = self.fields.0.iter().find(|(known, _)| *known == name);
            found.and_then(|(_, value)| value.as_str()).map(str::to_owned)
        };
        let [trace, id, parent] = ["trace_id", "span_id", "parent_id"].map(field);
        if let Some(trace) = trace.as_deref().and_then(read_hex) {
            self.trace = trace;
        }
        if let Some(id) = id.as_deref().and_then(read_hex) {
            self.id = id;
        }
        if self.parent.is_none() {
            self.parent = parent.as_deref().and_then(read_hex);
        }
        self.is_sampled &= !self.fields.0.iter().any(|(name, value)| *name == "sampled" && *value == false);
    }
}

impl<S> Layer<S> for OtlpLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let around = span.parent().and_then(|parent| {
            let extensions = parent.extensions();
            extensions.get::<Traced>().map(|traced| (traced.trace, traced.id, traced.is_sampled))
        });
        let mut own = [0; 8];
        // Without random numbers it is left out: a span needs a name of its own.
        let has_id = getrandom::fill(&mut own).is_ok();
        let mut fields = Fields::default();
        attributes.record(&mut fields as &mut dyn Visit);
        let mut traced = Traced {
            trace: around.map(|(trace, _, _)| trace).unwrap_or_default(),
            id: own,
            parent: around.map(|(_, id, _)| id),
            is_sampled: has_id && around.is_none_or(|(_, _, is_sampled)| is_sampled),
            began: SystemTime::now(),
            fields,
        };
        traced.settle();
        span.extensions_mut().insert(traced);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(traced) = span.extensions_mut().get_mut::<Traced>() {
            values.record(&mut traced.fields as &mut dyn Visit);
            traced.settle();
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(traced) = span.extensions_mut().remove::<Traced>() else { return };
        if !traced.is_sampled || traced.trace == [0; 16] {
            return;
        }
        let Traced { trace, id, parent, began, fields, .. } = traced;
        let name = span.metadata().name();
        let ended = EndedSpan { trace, id, parent, name, began, ended: SystemTime::now(), fields };
        self.0.put(ended.encode());
    }
}

fn read_hex<const COUNT: usize>(digits: &str) -> Option<[u8; COUNT]> {
    let mut read = [0; COUNT];
    if digits.len() != COUNT * 2 || !digits.is_ascii() {
        return None;
    }
    for (at, place) in read.iter_mut().enumerate() {
        *place = u8::from_str_radix(&digits[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(read)
}
