//! What a run is told as: tables for a person.

use std::fmt::Write;

use super::capacity::{Machines, Records, Resource, resources};
use super::costs::PLANNED_USE;
use super::design::{GATEWAY_CORES, NATS_SERVERS, NODE_CORES, PLACES};
use super::figures::Histogram;
use super::ledger::{Invariant, Outcome};
use super::simulation::{Course, Failure};
use super::timeline::{Micros, SECOND};
use super::traffic::Traffic;

pub struct Report<'a> {
    pub design: &'a Course,
    pub baseline: &'a Course,
    pub vcpu_hour_usd: f64,
    pub traffic: Traffic,
    pub resources: Vec<Resource>,
    pub records: Records,
    pub answered_per_second: f64,
}

/// How long waits were longer after a failure, and the longest of the 99th percentiles.
pub struct Felt {
    pub for_us: Micros,
    pub p99_us: Micros,
}

impl<'a> Report<'a> {
    pub fn of(design: &'a Course, baseline: &'a Course, vcpu_hour_usd: f64) -> Self {
        let traffic = Traffic::of(design);
        let seconds = design.figures.measured_us as f64 / SECOND as f64;
        Self {
            resources: resources(design, &traffic),
            records: Records::of(design),
            answered_per_second: design.figures.answered as f64 / seconds,
            design,
            baseline,
            vcpu_hour_usd,
            traffic,
        }
    }

    pub fn text(&self) -> String {
        let parts = [
            self.asked(),
            self.waits(),
            self.what_happened(),
            self.failures(),
            self.fullness(),
            self.bus(),
            self.bill(),
            self.invariants(),
        ];
        parts.join("\n")
    }

    /// Each kind of wait, with its name.
    pub fn kinds_of_waits(&self) -> Vec<(&'static str, &Histogram)> {
        let (waits, baseline) = (&self.design.figures.waits, &self.baseline.figures.waits);
        vec![
            ("for a place: all", &waits.all),
            ("… by the baseline, which knows every place", &baseline.all),
            ("… of small owners", &waits.small),
            ("… of the largest owner", &waits.largest),
            ("… of small owners, while the largest one's server is slow", &waits.small_slow),
            ("… by the baseline", &baseline.small_slow),
            ("… of the largest owner, while its server is slow", &waits.largest_slow),
            ("for the session's turn: all but the hot one", &waits.sessions),
            ("… of the hot session", &waits.hot_session),
        ]
    }

    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let (figures, ledger) = (&self.design.figures, &self.design.ledger);
        vec![
            ("asked for", ledger.arrivals()),
            ("answered", ledger.count(Outcome::Answered)),
            (
                "ended with an error: the node was lost after a call that writes",
                ledger.count(Outcome::FailedWithNode),
            ),
            ("recorded as lost with their gateway", ledger.count(Outcome::LostWithGateway)),
            ("refused (GM-2001)", ledger.count(Outcome::Refused)),
            ("… in the hot session", figures.refused.hot_session),
            ("… of the largest owner", figures.refused.largest),
            ("… of others", figures.refused.others),
            ("ran again after a loss", figures.counts.again),
            ("offers to nodes", figures.counts.offers),
            ("… refused by a node that was full meanwhile", figures.counts.refused_offers),
            ("waiting for a place in one gateway, at most", figures.queued_most as u64),
        ]
    }

    /// After a failure that happened at one moment.
    pub fn felt(&self, failure: &Failure) -> Option<Felt> {
        let first = self.design.failures.iter().map(|failure| failure.at).filter(|at| *at > 0).min()?;
        let windows = &self.design.figures.windows;
        let ordinary = windows.ordinary(self.design.settings.warm(), first);
        let limit = (2 * ordinary).max(ordinary + LONGER_US);
        let (for_us, p99_us) = windows.felt(failure.at, limit).filter(|_| failure.at > 0)?;
        Some(Felt { for_us, p99_us })
    }

    pub fn machines(&self) -> [(&'static str, Machines); 2] {
        [
            ("simulated", Machines::simulated(self.design)),
            ("for 70 % of what is fullest", Machines::planned(self.design, &self.resources)),
        ]
    }

    fn asked(&self) -> String {
        let settings = &self.design.settings;
        format!(
            "{} executions a second for {} s, seed {}: {} sessions, {} gateways of {GATEWAY_CORES} cores and one for the \
             database, {} nodes of {NODE_CORES} cores and {PLACES} places, {NATS_SERVERS} NATS servers. {} million events.\n",
            grouped(settings.rate as u64),
            settings.seconds,
            settings.seed,
            grouped(settings.sessions as u64),
            grouped(settings.gateways as u64),
            grouped(settings.nodes as u64),
            self.design.events / 1_000_000,
        )
    }

    fn waits(&self) -> String {
        let mut text =
            String::from("| wait, in ms | p50 | p95 | p99 | p99.9 | how many |\n|---|---|---|---|---|---|\n");
        for (name, waits) in self.kinds_of_waits() {
            let [p50, p95, p99, p999] = [0.5, 0.95, 0.99, 0.999].map(|share| ms(waits.at(share)));
            let count = grouped(waits.count);
            let _ = writeln!(text, "| {name} | {p50} | {p95} | {p99} | {p999} | {count} |");
        }
        text
    }

    fn what_happened(&self) -> String {
        let mut text = String::from("| executions | |\n|---|---|\n");
        for (name, count) in self.counts() {
            let _ = writeln!(text, "| {name} | {} |", grouped(count));
        }
        text
    }

    fn failures(&self) -> String {
        let mut text = String::from(
            "| failure | at | hit | ran again | errors | lost | all settled within | waits longer for | p99 then |\n\
             |---|---|---|---|---|---|---|---|---|\n",
        );
        for failure in &self.design.failures {
            let at = if failure.at == 0 { "all the time".to_owned() } else { seconds(failure.at) };
            let Failure { what, hit, again, failed, lost, .. } = failure;
            let settled = if *hit == 0 { "-".to_owned() } else { seconds(failure.settled_after) };
            let (felt, p99) = match self.felt(failure) {
                Some(felt) => (seconds(felt.for_us), format!("{} ms", ms(felt.p99_us))),
                None => ("-".to_owned(), "-".to_owned()),
            };
            let [hit, again, failed, lost] = [hit, again, failed, lost].map(|count| grouped(*count));
            let _ = writeln!(
                text,
                "| {what} | {at} | {hit} | {again} | {failed} | {lost} | {settled} | {felt} | {p99} |"
            );
        }
        text
    }

    fn fullness(&self) -> String {
        let mut text =
            String::from("| what there is only so much of | used | most | full at |\n|---|---|---|---|\n");
        for Resource { name, used, most, full_at, .. } in &self.resources {
            let most = most.map_or("-".to_owned(), percent);
            let full_at = grouped(*full_at as u64);
            let _ = writeln!(text, "| {name} | {} | {most} | {full_at}/s |", percent(*used));
        }
        if let Some(first) = self.resources.first() {
            let planned = grouped((first.full_at * PLANNED_USE) as u64);
            let _ = writeln!(
                text,
                "\nThe bottleneck: {}, full at {} executions a second; plan for {planned}.",
                first.name,
                grouped(first.full_at as u64)
            );
        }
        text
    }

    fn bus(&self) -> String {
        let mut text = String::from(
            "| on NATS, a second | sent | heard | MB sent by the servers |\n|---|---|---|---|\n",
        );
        for kind in &self.traffic.kinds {
            let [sent, heard] =
                [kind.sent_per_second, kind.heard_per_second()].map(|count| grouped(count as u64));
            let _ =
                writeln!(text, "| {} | {sent} | {heard} | {:.1} |", kind.name, kind.bytes_per_second() / 1e6);
        }
        let all = &self.traffic;
        let [sent, heard] =
            [all.sent_per_second(), all.heard_per_second()].map(|count| grouped(count as u64));
        let _ = writeln!(text, "| all | {sent} | {heard} | {:.1} |", all.bytes_per_second() / 1e6);
        let Records { bytes_per_second, hold_seconds, session_writes_per_second } = self.records;
        let _ = writeln!(
            text,
            "\nHistory and audit: {:.1} MB a second on all gateways; at their default sizes they hold {} of it.\n\
             Sessions in JetStream (not built yet): {} writes a second.",
            bytes_per_second / 1e6,
            span(hold_seconds),
            grouped(session_writes_per_second as u64)
        );
        text
    }

    fn bill(&self) -> String {
        let mut text = format!(
            "| machines, at ${} for a vCPU and an hour | nodes | gateways | NATS servers | vCPUs | an hour | a million executions |\n\
             |---|---|---|---|---|---|---|\n",
            self.vcpu_hour_usd
        );
        for (name, machines) in self.machines() {
            let Machines { nodes, gateways, nats_servers } = machines;
            let _ = writeln!(
                text,
                "| {name} | {} | {gateways} | {nats_servers} | {} | ${:.2} | ${:.2} |",
                grouped(nodes as u64),
                grouped(machines.vcpus() as u64),
                machines.usd_per_hour(self.vcpu_hour_usd),
                machines.usd_per_million(self.vcpu_hour_usd, self.answered_per_second)
            );
        }
        text
    }

    fn invariants(&self) -> String {
        let mut text = String::from("| what must hold | design | baseline |\n|---|---|---|\n");
        for invariant in Invariant::ALL {
            let [design, baseline] = [self.design, self.baseline].map(|course| {
                let broken = course.ledger.broken(invariant);
                match &broken.first {
                    None => "held".to_owned(),
                    Some(first) => format!("BROKEN {} times, first {first}", grouped(broken.times)),
                }
            });
            let _ = writeln!(text, "| {} | {design} | {baseline} |", invariant.sentence());
        }
        text
    }
}

/// Waits are longer if they are twice as long as before, and by so much at least.
const LONGER_US: Micros = 5_000;

fn ms(time: Micros) -> String {
    match time {
        0..10_000 => format!("{:.1}", time as f64 / 1_000.0),
        _ => grouped(time / 1_000),
    }
}

fn seconds(time: Micros) -> String {
    format!("{:.1} s", time as f64 / SECOND as f64)
}

fn span(seconds: f64) -> String {
    match seconds {
        0.0..600.0 => format!("{seconds:.0} s"),
        0.0..36_000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3_600.0),
    }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1_440, 12_600, 3_801_000].map(ms), ["1.4", "12", "3,801"]);
        assert_eq!([90.0, 1_200.0, 72_000.0].map(span), ["90 s", "20 min", "20 h"]);
        assert_eq!((seconds(4_505_697), percent(0.123)), ("4.5 s".to_owned(), "12.3 %".to_owned()));
    }
}
