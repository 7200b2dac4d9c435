//! What passes over NATS, counted from what happened.

use super::costs::{
    ACKNOWLEDGED_ALONE, ACKNOWLEDGEMENT_BYTES, ANSWER_BYTES, CALL_BYTES, END_BYTES, NATS_HEARD_US,
    NATS_MESSAGE_US, OFFER_ANSWER_BYTES, OFFER_BYTES, OUTPUT_BYTES, PRESENCE_BYTES, PROGRAM_BYTES,
    WORKSPACE_BYTES,
};
use super::design::{NATS_SERVERS, PRESENCE_EVERY_US};
use super::simulation::Course;
use super::timeline::SECOND;

/// Messages of one kind.
pub struct Kind {
    pub name: &'static str,
    pub sent_per_second: f64,
    /// Clients that hear each.
    pub heard_by: f64,
    bytes: f64,
}

impl Kind {
    pub fn heard_per_second(&self) -> f64 {
        self.sent_per_second * self.heard_by
    }

    /// What the servers send: to clients, and to each other.
    pub fn bytes_per_second(&self) -> f64 {
        let others = (NATS_SERVERS - 1) as f64;
        let between_servers = if self.heard_by > 1.0 { others } else { others / NATS_SERVERS as f64 };
        self.sent_per_second * self.bytes * (self.heard_by + between_servers)
    }

    fn cpu_cores(&self) -> f64 {
        let further = (self.heard_by - 1.0).max(0.0);
        self.sent_per_second * (NATS_MESSAGE_US + further * NATS_HEARD_US) / 1e6
    }
}

pub struct Traffic {
    pub kinds: Vec<Kind>,
}

impl Traffic {
    pub fn of(course: &Course) -> Self {
        let (counts, settings) = (&course.figures.counts, &course.settings);
        let seconds = course.figures.measured_us as f64 / SECOND as f64;
        let kind = |name, count: f64, heard_by: f64, bytes| Kind {
            name,
            sent_per_second: count / seconds,
            heard_by,
            bytes,
        };
        let one = |name, count: u64, bytes| kind(name, count as f64, 1.0, bytes);
        let (there, back) = (counts.session_offers, counts.session_programs);
        let on_links = 2 * counts.offers + 2 * counts.ends + 2 * counts.calls + there + back;
        let beats = seconds * (SECOND / PRESENCE_EVERY_US) as f64 * settings.gateways as f64;
        Self {
            kinds: vec![
                one("offers with their program", counts.offers, OFFER_BYTES + PROGRAM_BYTES),
                one("answers to offers", counts.offers, OFFER_ANSWER_BYTES),
                one("workspaces of sessions, there", there, WORKSPACE_BYTES),
                one("workspaces of sessions, back", back, WORKSPACE_BYTES),
                one("calls", counts.calls, CALL_BYTES),
                one("answers to calls", counts.calls, ANSWER_BYTES),
                one("output", counts.ends, OUTPUT_BYTES),
                one("ends", counts.ends, END_BYTES),
                kind(
                    "acknowledgements alone",
                    on_links as f64 * ACKNOWLEDGED_ALONE,
                    1.0,
                    ACKNOWLEDGEMENT_BYTES,
                ),
                kind("presence of nodes", counts.presences as f64, settings.gateways as f64, PRESENCE_BYTES),
                kind("presence of gateways", beats, settings.nodes as f64, PRESENCE_BYTES),
            ],
        }
    }

    pub fn sent_per_second(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.sent_per_second).sum()
    }

    pub fn heard_per_second(&self) -> f64 {
        self.kinds.iter().map(Kind::heard_per_second).sum()
    }

    pub fn bytes_per_second(&self) -> f64 {
        self.kinds.iter().map(Kind::bytes_per_second).sum()
    }

    /// Of all servers together.
    pub fn cpu_cores(&self) -> f64 {
        self.kinds.iter().map(Kind::cpu_cores).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_crosses_two_servers_most_of_the_time_and_a_presence_all_of_them() {
        let message = Kind { name: "calls", sent_per_second: 100.0, heard_by: 1.0, bytes: 30.0 };
        assert_eq!(message.bytes_per_second(), 100.0 * 30.0 * (1.0 + 2.0 / 3.0));
        assert_eq!(message.cpu_cores(), 100.0 * NATS_MESSAGE_US / 1e6);
        let presence = Kind { name: "presence", sent_per_second: 100.0, heard_by: 16.0, bytes: 30.0 };
        assert_eq!((presence.heard_per_second(), presence.bytes_per_second()), (1_600.0, 54_000.0));
        assert_eq!(presence.cpu_cores(), 100.0 * (NATS_MESSAGE_US + 15.0 * NATS_HEARD_US) / 1e6);
    }
}
