//! The same for machines.

use serde_json::{Map, Value, json};

use super::capacity::Machines;
use super::figures::Histogram;
use super::ledger::Invariant;
use super::report::Report;
use super::timeline::Micros;

impl Report<'_> {
    pub fn json(&self) -> Value {
        let settings = &self.design.settings;
        json!({
            "rate": settings.rate,
            "seconds": settings.seconds,
            "seed": settings.seed,
            "sessions": settings.sessions,
            "gateways": settings.gateways,
            "nodes": settings.nodes,
            "events": self.design.events,
            "waits_ms": self.waits_json(),
            "executions": self.counts_json(),
            "failures": self.failures_json(),
            "resources": self.resources_json(),
            "bottleneck": self.resources.first().map(|first| first.name),
            "nats_per_second": self.bus_json(),
            "records_mb_per_second": self.records.bytes_per_second / 1e6,
            "records_hold_seconds": self.records.hold_seconds,
            "session_writes_per_second": self.records.session_writes_per_second,
            "machines": self.machines_json(),
            "broken": self.broken_json(),
        })
    }

    fn waits_json(&self) -> Value {
        let waits = self.kinds_of_waits().into_iter();
        waits.map(|(name, waits)| percentiles(name, waits)).collect()
    }

    fn counts_json(&self) -> Value {
        let counts = self.counts().into_iter();
        counts.map(|(name, count)| (name.to_owned(), json!(count))).collect::<Map<_, _>>().into()
    }

    fn failures_json(&self) -> Value {
        let failures = self.design.failures.iter().map(|failure| {
            let felt = self.felt(failure);
            json!({
                "what": failure.what,
                "at_ms": ms(failure.at),
                "hit": failure.hit,
                "ran_again": failure.again,
                "errors": failure.failed,
                "lost": failure.lost,
                "settled_within_ms": ms(failure.settled_after),
                "waits_longer_for_ms": felt.as_ref().map(|felt| ms(felt.for_us)),
                "p99_then_ms": felt.as_ref().map(|felt| ms(felt.p99_us)),
            })
        });
        failures.collect()
    }

    fn resources_json(&self) -> Value {
        let resources = self.resources.iter().map(|resource| {
            json!({
                "name": resource.name,
                "used": resource.used,
                "most": resource.most,
                "full_at_per_second": resource.full_at,
            })
        });
        resources.collect()
    }

    fn bus_json(&self) -> Value {
        let kinds = self.traffic.kinds.iter().map(|kind| {
            json!({
                "name": kind.name,
                "sent": kind.sent_per_second,
                "heard": kind.heard_per_second(),
                "mb": kind.bytes_per_second() / 1e6,
            })
        });
        kinds.collect()
    }

    fn machines_json(&self) -> Value {
        let machines = self.machines().into_iter().map(|(name, machines)| {
            let Machines { nodes, gateways, nats_servers } = machines;
            json!({
                "name": name,
                "nodes": nodes,
                "gateways": gateways,
                "nats_servers": nats_servers,
                "vcpus": machines.vcpus(),
                "usd_per_hour": machines.usd_per_hour(self.vcpu_hour_usd),
                "usd_per_million_executions":
                    machines.usd_per_million(self.vcpu_hour_usd, self.answered_per_second),
            })
        });
        machines.collect()
    }

    fn broken_json(&self) -> Value {
        let broken = Invariant::ALL.iter().flat_map(|invariant| {
            let courses = [("design", self.design), ("baseline", self.baseline)];
            courses.map(|(of, course)| (of, invariant.sentence(), course.ledger.broken(*invariant)))
        });
        let broken = broken.filter(|(_, _, broken)| broken.times > 0);
        broken
            .map(|(of, what, broken)| json!({"of": of, "what": what, "times": broken.times, "first": broken.first}))
            .collect()
    }
}

fn percentiles(name: &str, waits: &Histogram) -> Value {
    let [p50, p95, p99, p999] = [0.5, 0.95, 0.99, 0.999].map(|share| ms(waits.at(share)));
    json!({"name": name, "p50": p50, "p95": p95, "p99": p99, "p99_9": p999, "count": waits.count})
}

fn ms(time: Micros) -> f64 {
    time as f64 / 1_000.0
}
