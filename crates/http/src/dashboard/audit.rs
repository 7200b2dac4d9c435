//! Audit: the newest events, and whether the chain is whole.

use std::time::SystemTime;

use axum::response::Response;
use gristmill_dashboard::pages::{self, Audit, AuditFilter, AuditLine, ChainState};
use gristmill_dashboard::parts::Tone;
use gristmill_dashboard::{Moment, Text, routes};
use gristmill_gateway::audit::{AuditFilter as Filter, AuditKind, AuditRecord, Verification};
use gristmill_gateway::domain::{one_line, unix_of_date, utc_text_ms};
use parking_lot::Mutex;
use serde_json::Value;

use super::answer::redirect;
use super::executions::since;
use super::visit::{Visit, moment};

/// Events in a list, how many are looked through for a text, and how many for anything else.
const LINES: usize = 100;
const SEARCHED: usize = 2_000;
const NEWEST: usize = 20_000;

/// What is shown of an event.
const WHAT_CHARS: usize = 200;

/// What the last walk along the chain found.
#[derive(Default)]
pub(super) struct LastCheck {
    last: Mutex<Option<(SystemTime, Verification)>>,
}

pub(super) async fn audit(visit: Visit) -> Response {
    let Some(audit) = visit.parts().gateway.audit() else {
        return visit.not_kept("This gateway writes no audit").await;
    };
    let text = |name: &str| Text::from(visit.query.filled(name).unwrap_or_default());
    let filter =
        AuditFilter { text: text("q"), kind: text("kind"), caller: text("caller"), since: text("since") };
    let limit = if filter.text.is_empty() { LINES } else { SEARCHED };
    let (Ok(size), Ok(found)) = (audit.size().await, audit.find(&query(&filter), limit).await) else {
        return visit.unreadable().await;
    };
    let needle = filter.text.raw().to_lowercase();
    let fits = |record: &&AuditRecord| needle.is_empty() || record.text.to_lowercase().contains(&needle);
    let view = Audit {
        chain: chain(&visit),
        events: size.events,
        checkpoint: size.signed.map(|(_, at_ms)| Moment(at_ms)),
        lines: found.iter().filter(fits).take(LINES).map(line).collect(),
        filter,
    };
    visit.page(pages::audit, view).await
}

fn query(filter: &AuditFilter) -> Filter {
    let kinds = AuditKind::ALL.into_iter().filter(|kind| kind.matches(filter.kind.raw()));
    Filter {
        kinds: kinds.map(AuditKind::as_str).collect(),
        caller: (!filter.caller.is_empty()).then(|| filter.caller.raw().to_owned()),
        since: since(filter.since.raw()).map(utc_text_ms),
        newest: Some(NEWEST),
        ..Filter::default()
    }
}

fn chain(visit: &Visit) -> ChainState {
    match &*visit.dashboard.chain.last.lock() {
        None => ChainState::NotChecked,
        Some((at, found)) => match found.faults.first() {
            None => ChainState::Intact { checked: moment(*at) },
            Some(fault) => ChainState::Broken { event: fault.number, why: fault.what.as_str().into() },
        },
    }
}

/// Walks the whole chain.
pub(super) async fn verify(visit: Visit) -> Response {
    let Some(audit) = visit.parts().gateway.audit() else {
        return visit.not_kept("This gateway writes no audit").await;
    };
    match audit.verify().await {
        Ok(found) => {
            *visit.dashboard.chain.last.lock() = Some((SystemTime::now(), found));
            redirect(routes::AUDIT)
        }
        Err(_) => visit.unreadable().await,
    }
}

/// `2026-07-28T09:30:00.123Z` as a moment; the beginning of time if it is none.
fn written_at(text: &str) -> Moment {
    let read = || {
        let day = unix_of_date(text.get(..10)?)?;
        let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
        let (hour, minute, second) = (part(11..13)?, part(14..16)?, part(17..19)?);
        let ms = part(20..23).unwrap_or_default();
        i64::try_from((day + hour * 3_600 + minute * 60 + second) * 1_000 + ms).ok()
    };
    Moment(read().unwrap_or_default())
}

/// An event as it was written: its own words, and the rest of its members as they are.
fn line(record: &AuditRecord) -> AuditLine {
    let event: Value = serde_json::from_str(&record.text).unwrap_or_default();
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let outcome = ["outcome", "decision", "why"].into_iter().map(text).find(|text| !text.is_empty());
    let outcome = outcome.unwrap_or_default();
    let tone = match outcome {
        "ok" | "allow" => Tone::Good,
        "failed" | "deny" | "refused" | "lost" => Tone::Bad,
        _ => Tone::Quiet,
    };
    const SHOWN_ELSEWHERE: [&str; 8] =
        ["at", "kind", "number", "owner", "execution", "outcome", "session", "previous"];
    let rest =
        event.as_object().into_iter().flatten().filter(|(name, _)| !SHOWN_ELSEWHERE.contains(&name.as_str()));
    let rest: Vec<String> = rest
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name} {text}"),
            _ => format!("{name} {value}"),
        })
        .collect();
    AuditLine {
        number: record.number,
        at: written_at(text("at")),
        kind: text("kind").into(),
        who: text("owner").into(),
        what: one_line(&rest.join(" · "), WHAT_CHARS).into(),
        tone,
        outcome: one_line(outcome, WHAT_CHARS).into(),
        execution: (!text("execution").is_empty()).then(|| text("execution").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_events_have_it() {
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(1_794_866_399_123);
        assert_eq!(written_at(&utc_text_ms(time)), Moment(1_794_866_399_123));
        assert_eq!(written_at("yesterday"), Moment(0));
    }
}
