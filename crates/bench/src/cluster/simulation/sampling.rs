//! Looking at everything ten times a second, and comparing the books once a second.

use super::super::design::{FOLLOWED_MAX, GATEWAY_CORES, NODE_CORES, PLACES};
use super::super::figures::Counts;
use super::super::gateway::Used;
use super::super::timeline::{Event, Micros, SECOND};
use super::Simulation;

const LOOKS_EVERY_US: Micros = SECOND / 10;

/// What had been counted before.
#[derive(Default)]
pub(super) struct Seen {
    begun_at: Option<Micros>,
    is_done: bool,
    counts: Counts,
    /// Of each gateway, a second ago.
    used: Vec<Used>,
}

impl Simulation {
    pub(super) fn sample(&mut self) {
        let now = self.timeline.now();
        self.timeline.after(LOOKS_EVERY_US, Event::Sample);
        if now.is_multiple_of(SECOND) {
            self.ledger.check(now, self.in_flight());
            self.look_at_gateways();
        }
        if self.is_measured(now) {
            self.look_at_nodes();
        }
        if self.seen.begun_at.is_none() && now >= self.settings.warm() {
            self.seen.begun_at = Some(now);
            self.seen.counts = self.figures.counts;
        }
        if !self.seen.is_done && now >= self.settings.end() {
            self.seen.is_done = true;
            self.figures.counts = self.figures.counts.since(&self.seen.counts);
            self.figures.measured_us = now - self.seen.begun_at.unwrap_or_default();
        }
    }

    fn look_at_nodes(&mut self) {
        let alive = self.nodes.iter().filter(|node| node.alive);
        let (mut machines, mut places, mut cores) = (0, 0, 0);
        for node in alive {
            machines += 1;
            places += node.runs.len();
            cores += node.busy_cores();
        }
        if machines > 0 {
            self.figures.places.add(places as f64 / (machines * PLACES) as f64);
            self.figures.node_cores.add(cores as f64 / (machines * NODE_CORES) as f64);
        }
    }

    /// In the last second, each gateway that was alive.
    fn look_at_gateways(&mut self) {
        let now = self.timeline.now();
        let used: Vec<Used> = self.gateways.iter().map(super::Gateway::used).collect();
        let before = std::mem::replace(&mut self.seen.used, used);
        if before.is_empty() || !self.is_measured(now) {
            return;
        }
        for (gateway, (used, before)) in self.seen.used.iter().zip(before).enumerate() {
            if !self.gateways[gateway].alive {
                continue;
            }
            let part = |now: u64, then: u64| (now - then) as f64 / SECOND as f64;
            let figures = &mut self.figures;
            figures.gateway_cores.add(part(used.cpu_us, before.cpu_us) / GATEWAY_CORES as f64);
            figures.listener.add(part(used.listener_us, before.listener_us));
            figures.database.add(part(used.database_us, before.database_us));
            let followed = self.gateways[gateway].followed.count();
            figures.followed.add(followed as f64 / FOLLOWED_MAX as f64);
        }
    }
}
