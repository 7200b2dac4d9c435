//! The figures of `/metrics` as OpenTelemetry sees them, under the same names and labels: counters as sums since the
//! gateway began, and histograms with the same bounds.

use std::time::SystemTime;

use super::exposition::{Family, Kind, Series, read};
use super::protobuf::Message;
use super::request;
use super::span::{attribute, nanos};

/// Everything since the beginning, not since the last time.
const CUMULATIVE: u64 = 2;

/// Since when is counted, and until when.
#[derive(Clone, Copy)]
struct Span {
    began: u64,
    now: u64,
}

/// An `ExportMetricsServiceRequest`, as protocol buffers, of figures as `/metrics` has them.
pub fn metrics_request(text: &str, service: &str, began: SystemTime, now: SystemTime) -> Vec<u8> {
    let span = Span { began: nanos(began), now: nanos(now) };
    let families = read(text);
    let metrics: Vec<Vec<u8>> = families
        .iter()
        .filter(|family| !family.series.is_empty())
        .map(|family| metric(family, span).into_bytes())
        .collect();
    request(service, metrics.iter().map(Vec::as_slice))
}

fn metric(family: &Family<'_>, span: Span) -> Message {
    let mut described = Message::default().text(1, family.name).text(2, family.help);
    if let Some(unit) = unit(family.name) {
        described = described.text(3, unit);
    }
    let points = |point: fn(&Series<'_>, Span) -> Message| {
        family.series.iter().fold(Message::default(), |all, series| all.message(1, point(series, span)))
    };
    match family.kind {
        Kind::Gauge => described.message(5, points(moment)),
        Kind::Counter => described.message(7, points(sum).varint(2, CUMULATIVE).varint(3, 1)),
        Kind::Histogram => described.message(9, points(distribution).varint(2, CUMULATIVE)),
    }
}

/// As UCUM has it.
fn unit(name: &str) -> Option<&'static str> {
    match name {
        _ if name.ends_with("_seconds") => Some("s"),
        _ if name.ends_with("_bytes") => Some("By"),
        _ => None,
    }
}

fn moment(series: &Series<'_>, span: Span) -> Message {
    let point = Message::default().fixed(3, span.now).fixed(4, series.value.to_bits());
    labeled(point, 7, series)
}

fn sum(series: &Series<'_>, span: Span) -> Message {
    let point = Message::default().fixed(2, span.began).fixed(3, span.now);
    // All of our counters count whole things.
    labeled(point.fixed(6, series.value as u64), 7, series)
}

fn distribution(series: &Series<'_>, span: Span) -> Message {
    let point = Message::default().fixed(2, span.began).fixed(3, span.now);
    let point = point.fixed(4, series.count).fixed(5, series.value.to_bits());
    // Those beyond the last bound are the last.
    let through = series.at_most.iter().map(|(_, count)| *count).chain([series.count]);
    let before = [0].into_iter().chain(series.at_most.iter().map(|(_, count)| *count));
    let point = point.packed(6, through.zip(before).map(|(through, before)| through.saturating_sub(before)));
    let bounds = series.at_most.iter().map(|(bound, _)| bound.to_bits());
    labeled(point.packed(7, bounds), 9, series)
}

fn labeled(point: Message, field: u64, series: &Series<'_>) -> Message {
    series
        .labels
        .iter()
        .fold(point, |point, (name, value)| point.message(field, attribute(name, &value.as_str().into())))
}
