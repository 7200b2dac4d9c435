//! Overview: what runs, what it saves, what needs you.

use maud::{Markup, html};

use super::approvals::{Approval, anchor};
use super::execution_lines::{ExecutionLine, execution_table};
use crate::frame::{Head, Place, page};
use crate::number::{self, compact, count, counted, duration, percent};
use crate::parts::{Tone, badge, card, empty, stat};
use crate::plots::{Bar, ColumnPair, CurvePoint, bars, columns, curve};
use crate::{Frame, Moment, Text, routes};

/// What the first page shows.
#[derive(Clone, Debug)]
pub struct Overview {
    pub period: Period,
    pub running: Vec<ExecutionLine>,
    /// Programs that wait for a worker.
    pub queued: Option<u64>,
    /// In the period, as the figures below.
    pub executions: u64,
    pub failed: u64,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    /// Against direct calls.
    pub tokens_saved: i64,
    /// At the configured price.
    pub money_saved: Option<Money>,
    /// Summed up over the period.
    pub saved_curve: Vec<CurvePoint>,
    pub outcomes: Vec<ColumnPair>,
    /// What the same work takes in other ways, in tokens.
    pub against: Vec<Bar>,
    pub recent: Vec<ExecutionLine>,
    pub approvals: Vec<Approval>,
    pub anomalies: Vec<Anomaly>,
}

/// Chosen by `?period=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    Day,
    Week,
    Month,
}

#[derive(Clone, Debug)]
pub struct Money {
    pub amount: f64,
    /// Such as `$`.
    pub currency: Text,
    pub price_per_million: f64,
}

impl Money {
    fn words(&self) -> Markup {
        let sign = if self.amount < 0.0 { "\u{2212}" } else { "" };
        html! { (sign) (self.currency) (format!("{:.2}", self.amount.abs())) }
    }
}

/// Something out of the ordinary.
#[derive(Clone, Debug)]
pub struct Anomaly {
    pub tone: Tone,
    pub severity: Text,
    pub title: Text,
    /// The numbers behind it.
    pub evidence: Text,
    pub action: Text,
    pub at: Moment,
    pub execution: Option<Text>,
}

impl Period {
    const ALL: [Period; 3] = [Period::Day, Period::Week, Period::Month];

    /// From the query; a day, unless it says otherwise.
    pub fn from_query(text: &str) -> Self {
        Period::ALL.into_iter().find(|period| period.as_str() == text).unwrap_or(Period::Day)
    }

    /// As the query has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Period::Day => "24h",
            Period::Week => "7d",
            Period::Month => "30d",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Period::Day => "last 24 hours",
            Period::Week => "last 7 days",
            Period::Month => "last 30 days",
        }
    }
}

pub fn overview(frame: &Frame, view: &Overview) -> Markup {
    let head = Head { actions: periods(view.period), ..Head::of(Place::Overview) };
    let body = html! {
        div.live data-live=(routes::LIVE_OVERVIEW) { (overview_live(frame, view)) }
        @if view.executions == 0 && view.recent.is_empty() {
            (nothing_yet())
        } @else {
            div.columns-2-1 {
                (card("Tokens saved", &html! {
                    p.note { "Against direct calls, " (view.period.words()) }
                    (curve("Tokens saved over time", "tokens", &view.saved_curve))
                }))
                (card("The same work in tokens", &html! {
                    (bars(&view.against, "tokens"))
                    (share_saved(view))
                    p.note { "Direct calls count with the definitions of the tools that were called and no others, as after a tool search that finds exactly these. A real one takes more." }
                }))
            }
            (card("Executions", &html! {
                p.note {
                    (counted(view.executions, "execution")) ", " (count(view.failed)) " failed, " (view.period.words())
                }
                (columns("Executions over time", &view.outcomes))
            }))
            (card("Latest executions", &html! {
                (execution_table(frame, "Latest executions", &view.recent))
                p.more { a href=(routes::EXECUTIONS) { "All executions" } }
            }))
        }
    };
    page(frame, &head, &body)
}

/// The part that changes while you look.
pub fn overview_live(frame: &Frame, view: &Overview) -> Markup {
    html! {
        (figures(view))
        @if !view.approvals.is_empty() || !view.anomalies.is_empty() {
            div.columns-1-1 {
                @if !view.approvals.is_empty() { (waiting(frame, &view.approvals)) }
                @if !view.anomalies.is_empty() { (anomalies(frame, &view.anomalies)) }
            }
        }
        @if !view.running.is_empty() {
            (card("Running now", &execution_table(frame, "Running now", &view.running)))
        }
    }
}

fn figures(view: &Overview) -> Markup {
    let succeeded = view.executions.saturating_sub(view.failed);
    let running = view.running.len() as u64;
    html! {
        div.stats {
            (stat("Running now", count(running), html! { @if let Some(queued) = view.queued { (count(queued)) " waiting for a worker" } }))
            @if view.executions > 0 {
                (stat(
                    "Success",
                    percent(number::float(succeeded) / number::float(view.executions)),
                    html! { (count(view.failed)) " of " (count(view.executions)) " failed" },
                ))
            }
            @if let (Some(p50), Some(p95)) = (view.p50_ms, view.p95_ms) {
                (stat("Time, p50", duration(p50), html! { "p95 " (duration(p95)) }))
            }
            (stat("Tokens saved", compact(signed_float(view.tokens_saved)), "against direct calls"))
            @if let Some(money) = &view.money_saved {
                (stat(
                    "Money saved",
                    html! { (money.words()) },
                    html! { "at " (money.currency) (number::place(money.price_per_million)) " per million tokens" },
                ))
            }
        }
    }
}

fn waiting(frame: &Frame, approvals: &[Approval]) -> Markup {
    card(
        "Waiting for you",
        &html! {
            ul.rows {
                @for approval in approvals {
                    li {
                        div {
                            strong { (approval.server) "." (approval.tool) }
                            p.note { (approval.caller) " · " (approval.asked.relative(frame.now)) }
                        }
                        a.button href={ (routes::APPROVALS) "#" (anchor(&approval.id)) } { "Review" }
                    }
                }
            }
        },
    )
}

fn anomalies(frame: &Frame, anomalies: &[Anomaly]) -> Markup {
    card(
        "Out of the ordinary",
        &html! {
            ul.rows {
                @for anomaly in anomalies {
                    li {
                        div {
                            (badge(anomaly.tone, &anomaly.severity)) " "
                            strong { (anomaly.title) }
                            p { (anomaly.evidence) }
                            p.note {
                                (anomaly.action) " · " (anomaly.at.relative(frame.now))
                                @if let Some(id) = &anomaly.execution {
                                    " · " a href=(routes::fill(routes::EXECUTION, &[id.raw()])) { "execution" }
                                }
                            }
                        }
                    }
                }
            }
        },
    )
}

/// The cheapest way against the most expensive one.
fn share_saved(view: &Overview) -> Markup {
    let least = view.against.iter().min_by_key(|bar| bar.value);
    let most = view.against.iter().max_by_key(|bar| bar.value).filter(|bar| bar.value > 0);
    html! {
        @if let (Some(least), Some(most)) = (least, most) {
            p.note {
                (least.label) ": " (percent(1.0 - number::float(least.value) / number::float(most.value)))
                " fewer tokens than " (most.label)
            }
        }
    }
}

fn nothing_yet() -> Markup {
    empty(
        "No program has run yet",
        &html! {
            "Connect an agent with " code { "gristmill connect" } ", or try a program in the "
            a href=(routes::PLAYGROUND) { "playground" } "."
        },
    )
}

fn periods(chosen: Period) -> Markup {
    html! {
        nav.segments aria-label="Period" {
            @for period in Period::ALL {
                a href=(routes::query(routes::OVERVIEW, &[("period", period.as_str())]))
                    aria-current=[(period == chosen).then_some("true")] { (period.as_str()) }
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn signed_float(number: i64) -> f64 {
    number as f64
}
