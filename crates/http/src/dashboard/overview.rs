//! Overview: what runs, what it saves, what needs you.

use std::time::{Duration, Instant};

use axum::response::Response;
use gristmill_dashboard::pages::{self, Money, Overview, Period};
use gristmill_dashboard::parts::Tone;
use gristmill_dashboard::plots::{Bar, ColumnPair, CurvePoint};
use gristmill_dashboard::{Moment, Text};
use gristmill_gateway::history::{ExecutionQuery, PeriodFigures, RecordedOutcome};
use gristmill_gateway::watch::{Anomaly, Severity};
use parking_lot::Mutex;

use super::approvals::approval;
use super::execution_lines::lines;
use super::live::{OFTEN, Part, stream};
use super::visit::{Visit, now};

/// Executions in a list of the first page.
const LATEST: usize = 10;
const RUNNING_MAX: usize = 50;
const ANOMALIES_MAX: usize = 5;

/// Parts of a curve.
const CURVE_PARTS: u32 = 48;

/// Figures of a long time are added up again after this long, however many pages are open.
const FIGURES_AGE_MAX: Duration = Duration::from_secs(5);

/// The last figures, by period.
#[derive(Default)]
pub(super) struct Figures {
    last: Mutex<Vec<(Period, Instant, PeriodFigures)>>,
}

pub(super) async fn overview(visit: Visit) -> Response {
    match view(&visit, period(&visit)).await {
        Some(view) => visit.page(pages::overview, view).await,
        None => visit.unreadable().await,
    }
}

pub(super) async fn live(visit: Visit) -> Response {
    let (period, now) = (period(&visit), now());
    let looking = visit.clone();
    stream(
        visit,
        OFTEN,
        Box::new(move || {
            let visit = looking.clone();
            Box::pin(async move {
                let Some(view) = view(&visit, period).await else { return Part::Unknown };
                // The script keeps times current: sent is what else has changed.
                let frame = gristmill_dashboard::Frame { now, ..visit.frame_with(0) };
                Part::Now(pages::overview_live(&frame, &view).into_string())
            })
        }),
    )
}

fn period(visit: &Visit) -> Period {
    Period::from_query(visit.query.value("period").unwrap_or_default())
}

fn length(period: Period) -> Duration {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    match period {
        Period::Day => DAY,
        Period::Week => DAY * 7,
        Period::Month => DAY * 30,
    }
}

async fn figures(visit: &Visit, period: Period) -> Option<PeriodFigures> {
    let Some(history) = visit.history() else { return Some(PeriodFigures::default()) };
    let last = &visit.dashboard.figures.last;
    let known =
        last.lock().iter().find(|(of, at, _)| *of == period && at.elapsed() < FIGURES_AGE_MAX).cloned();
    if let Some((_, _, figures)) = known {
        return Some(figures);
    }
    let figures = history.period(length(period), CURVE_PARTS).await.ok()?;
    let mut last = last.lock();
    last.retain(|(of, ..)| *of != period);
    last.push((period, Instant::now(), figures.clone()));
    Some(figures)
}

/// `None` if the database can't be read.
async fn view(visit: &Visit, period: Period) -> Option<Overview> {
    let figures = figures(visit, period).await?;
    let now = now();
    let (mut running, mut recent) = (Vec::new(), Vec::new());
    if let Some(history) = visit.history() {
        let query = ExecutionQuery { outcome: Some(RecordedOutcome::Running), ..ExecutionQuery::default() };
        running = lines(&history.page(query, RUNNING_MAX).await.ok()?.lines, now);
        recent = lines(&history.page(ExecutionQuery::default(), LATEST).await.ok()?.lines, now);
    }
    let bar = |label: &str, value, tone| Bar { label: Text::from(label), value, tone };
    Some(Overview {
        period,
        running,
        queued: None,
        executions: figures.executions,
        failed: figures.failed,
        p50_ms: figures.p50_ms,
        p95_ms: figures.p95_ms,
        tokens_saved: figures.saved,
        money_saved: money(visit.parts().price_per_million, figures.saved),
        saved_curve: curve(&figures),
        outcomes: columns(&figures),
        against: vec![
            bar("With Gristmill", figures.through_us, Tone::Good),
            bar("Direct calls", figures.direct, Tone::Quiet),
        ],
        recent,
        approvals: visit.waiting().await.iter().map(approval).collect(),
        anomalies: anomalies(visit, period).await,
    })
}

/// What was saved at this price; nothing at none.
#[expect(clippy::cast_precision_loss, reason = "shown in hundredths")]
fn money(price_per_million: f64, saved: i64) -> Option<Money> {
    (price_per_million > 0.0).then(|| Money {
        amount: saved as f64 * price_per_million / 1e6,
        currency: "$".into(),
        price_per_million,
    })
}

/// The latest findings of the watch; none if they can't be read.
async fn anomalies(visit: &Visit, period: Period) -> Vec<pages::Anomaly> {
    let since = i64::try_from(length(period).as_millis()).unwrap_or(i64::MAX);
    let found = visit.parts().store.find_anomalies(now().0.saturating_sub(since), ANOMALIES_MAX).await;
    found.unwrap_or_default().into_iter().map(anomaly).collect()
}

fn anomaly(found: Anomaly) -> pages::Anomaly {
    pages::Anomaly {
        tone: match found.severity {
            Severity::Notice => Tone::Info,
            Severity::Warning => Tone::Warn,
            Severity::Critical => Tone::Bad,
        },
        severity: found.severity.name().into(),
        title: format!("{}: {}", found.kind.name(), found.subject).into(),
        evidence: found.words.into(),
        action: found.action.into(),
        at: Moment(i64::try_from(found.at_ms).unwrap_or(i64::MAX)),
        execution: found.executions.into_iter().next_back().map(Text::from),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a curve")]
fn curve(figures: &PeriodFigures) -> Vec<CurvePoint> {
    let mut sum = 0_i64;
    let point = |part: &gristmill_gateway::history::PeriodPart| {
        sum = sum.saturating_add(part.saved);
        CurvePoint { at: Moment(part.ends_ms), value: sum as f64 }
    };
    figures.parts.iter().map(point).collect()
}

fn columns(figures: &PeriodFigures) -> Vec<ColumnPair> {
    let pair = |part: &gristmill_gateway::history::PeriodPart| ColumnPair {
        at: Moment(part.ends_ms),
        good: part.executions.saturating_sub(part.failed),
        bad: part.failed,
    };
    figures.parts.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use gristmill_gateway::watch::{Kind, Subject};

    use super::*;

    #[test]
    fn saved_tokens_are_worth_what_the_configuration_says() {
        let amount = |price, saved| money(price, saved).map(|money| money.amount);
        assert_eq!((amount(3.0, 2_000_000), amount(1.5, -1_000_000)), (Some(6.0), Some(-1.5)));
        assert_eq!(amount(0.0, 2_000_000), None);
    }

    #[test]
    fn a_finding_is_shown_with_what_what_to_do_and_its_latest_execution() {
        let found = Anomaly {
            kind: Kind::Failures,
            severity: Severity::Critical,
            subject: Subject::Server("crm".to_owned()),
            at_ms: 1_000,
            words: "9 of 10 failed".to_owned(),
            facts: Vec::new(),
            executions: vec!["first".to_owned(), "last".to_owned()],
            action: "gristmill list".to_owned(),
            key: "failures crm".to_owned(),
        };
        let title = format!("{}: server crm", found.kind.name());
        let shown = anomaly(found);
        assert!(matches!(shown.tone, Tone::Bad));
        assert_eq!((shown.title.raw(), shown.evidence.raw()), (title.as_str(), "9 of 10 failed"));
        assert_eq!((shown.action.raw(), shown.at), ("gristmill list", Moment(1_000)));
        assert_eq!(shown.execution.as_ref().map(Text::raw), Some("last"));
    }
}
