//! What is traced, as lines: one for each event, and one for each span when it ends, with how long it took.
//! Each has the fields of the spans around it.

use std::time::{Instant, SystemTime};

use tracing::field::Visit;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::fields::{Fields, MESSAGE};
use crate::line::{Line, LogFormat};
use crate::writer::LineSender;

/// What traces of other systems go by; `trace_id` is enough to find them.
const LEFT_OUT: [&str; 3] = ["span_id", "parent_id", "sampled"];

/// What a span hands on to the lines within it: whose they are.
const HANDED_ON: [&str; 6] = ["execution", "session", "owner", "client", "trace_id", "server"];

/// Where a library's users see which part of us it was.
const AREA_PREFIX: &str = "gristmill::";

/// And that somebody looks into a session.
const DEBUGGED_PREFIX: &str = "debug::";

pub(crate) struct LogLayer {
    lines: LineSender,
    format: LogFormat,
    process: u32,
}

/// One span, as far as it is known.
struct Spanned {
    began: Instant,
    fields: Fields,
}

impl LogLayer {
    pub fn new(lines: LineSender, format: LogFormat) -> Self {
        Self { lines, format, process: std::process::id() }
    }

    /// Writes a line with what the spans around it have to say.
    fn write<S>(&self, metadata: &Metadata<'_>, mut fields: Fields, within: Option<SpanRef<'_, S>>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        for span in within.into_iter().flat_map(|span| span.scope()) {
            if let Some(spanned) = span.extensions().get::<Spanned>() {
                let handed_on = spanned.fields.0.iter().filter(|(name, _)| HANDED_ON.contains(name));
                handed_on.for_each(|(name, value)| fields.add(name, value));
            }
        }
        fields.set("pid", self.process.into());
        let words = fields.take(MESSAGE);
        let message = words.as_ref().and_then(|words| words.as_str()).unwrap_or(metadata.name());
        let area = metadata.target().strip_prefix(AREA_PREFIX).unwrap_or(metadata.target());
        let area = area.strip_prefix(DEBUGGED_PREFIX).unwrap_or(area);
        fields.0.retain(|(name, _)| !LEFT_OUT.contains(name));
        let line = Line { time: SystemTime::now(), level: *metadata.level(), area, message, fields };
        self.lines.send(line.write(self.format));
    }
}

impl<S> Layer<S> for LogLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields as &mut dyn Visit);
        span.extensions_mut().insert(Spanned { began: Instant::now(), fields });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(spanned) = span.extensions_mut().get_mut::<Spanned>() {
            values.record(&mut spanned.fields as &mut dyn Visit);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields as &mut dyn Visit);
        self.write(event.metadata(), fields, context.event_span(event));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(Spanned { began, mut fields }) = span.extensions_mut().remove::<Spanned>() else { return };
        fields.0.insert(0, ("took_ms", milliseconds(began.elapsed().as_secs_f64()).into()));
        self.write(span.metadata(), fields, span.parent());
    }
}

/// To the microsecond.
fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1_000_000.0).round() / 1000.0
}
