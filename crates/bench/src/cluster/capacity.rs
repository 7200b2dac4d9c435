//! How full everything is, what is full first, how many machines that takes, and what they cost.

use super::costs::{NATS_BYTES_PER_SECOND, PLANNED_USE, RECORD_BYTES, RECORDS_MAX_BYTES, SESSION_WRITES};
use super::design::{GATEWAY_CORES, NATS_CORES, NATS_SERVERS, NODE_CORES};
use super::figures::Use;
use super::simulation::Course;
use super::timeline::SECOND;
use super::traffic::Traffic;

/// Something that there's only so much of.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    pub name: &'static str,
    whose: Whose,
    /// The part in use, in the median and at most.
    pub used: f64,
    pub most: Option<f64>,
    /// Executions a second at which it would be full, if it grows as they do.
    pub full_at: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Nodes,
    Gateways,
    Nats,
}

/// The fullest first.
pub fn resources(course: &Course, traffic: &Traffic) -> Vec<Resource> {
    let figures = &course.figures;
    let rate = course.settings.rate;
    let seen = |name, whose, used: &Use| Resource {
        name,
        whose,
        used: used.median(),
        most: Some(used.most()),
        full_at: rate / used.median(),
    };
    let counted =
        |name, used: f64| Resource { name, whose: Whose::Nats, used, most: None, full_at: rate / used };
    let nats_cores = traffic.cpu_cores() / (NATS_SERVERS * NATS_CORES) as f64;
    let nats_bytes = traffic.bytes_per_second() / (NATS_SERVERS as f64 * NATS_BYTES_PER_SECOND);
    let mut all = vec![
        seen("places of nodes", Whose::Nodes, &figures.places),
        seen("cores of nodes", Whose::Nodes, &figures.node_cores),
        seen("cores of a gateway", Whose::Gateways, &figures.gateway_cores),
        seen("a gateway's task that hears the bus", Whose::Gateways, &figures.listener),
        seen("a gateway's database: history and audit", Whose::Gateways, &figures.database),
        seen("executions that a gateway follows", Whose::Gateways, &figures.followed),
        counted("cores of the NATS servers", nats_cores),
        counted("network of the NATS servers", nats_bytes),
    ];
    all.sort_by(|one, other| other.used.total_cmp(&one.used));
    all
}

/// Machines of each kind, and what they cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machines {
    pub nodes: usize,
    pub gateways: usize,
    pub nats_servers: usize,
}

impl Machines {
    /// Those that were simulated.
    pub fn simulated(course: &Course) -> Self {
        let settings = &course.settings;
        Self { nodes: settings.nodes, gateways: settings.gateways, nats_servers: NATS_SERVERS }
    }

    /// Those with which each resource is as full as planned.
    pub fn planned(course: &Course, resources: &[Resource]) -> Self {
        let simulated = Self::simulated(course);
        let needed = |whose, count: usize, least: usize| {
            let of_kind = resources.iter().filter(|resource| resource.whose == whose);
            let fullest = of_kind.map(|resource| resource.used).fold(0.0, f64::max);
            ((count as f64 * fullest / PLANNED_USE).ceil() as usize).max(least)
        };
        Self {
            nodes: needed(Whose::Nodes, simulated.nodes, 2),
            gateways: needed(Whose::Gateways, simulated.gateways, 2),
            nats_servers: needed(Whose::Nats, simulated.nats_servers, NATS_SERVERS),
        }
    }

    /// A gateway's database has a core of its own.
    pub fn vcpus(&self) -> usize {
        self.nodes * NODE_CORES + self.gateways * (GATEWAY_CORES + 1) + self.nats_servers * NATS_CORES
    }

    pub fn usd_per_hour(&self, vcpu_hour_usd: f64) -> f64 {
        self.vcpus() as f64 * vcpu_hour_usd
    }

    pub fn usd_per_million(&self, vcpu_hour_usd: f64, per_second: f64) -> f64 {
        self.usd_per_hour(vcpu_hour_usd) / 3_600.0 / per_second * 1e6
    }
}

/// What is written down.
#[derive(Clone, Copy, Debug)]
pub struct Records {
    pub bytes_per_second: f64,
    /// How long history and audit of a gateway hold, as large as they are by default.
    pub hold_seconds: f64,
    /// In a later part: writes to JetStream.
    pub session_writes_per_second: f64,
}

impl Records {
    pub fn of(course: &Course) -> Self {
        let seconds = course.figures.measured_us as f64 / SECOND as f64;
        let bytes_per_second = course.figures.counts.ends as f64 / seconds * RECORD_BYTES;
        let gateways = course.settings.gateways as f64;
        Self {
            bytes_per_second,
            hold_seconds: RECORDS_MAX_BYTES * gateways / bytes_per_second,
            session_writes_per_second: course.figures.counts.session_programs as f64 / seconds
                * SESSION_WRITES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulation::Simulation;
    use super::super::tests::small;
    use super::*;

    #[test]
    fn the_fullest_resource_is_first_and_says_when_it_is_full() {
        let course = Simulation::new(small()).run();
        let resources = resources(&course, &Traffic::of(&course));
        assert!(resources.is_sorted_by(|one, other| one.used >= other.used), "{resources:?}");
        for resource in resources {
            assert!(resource.used > 0.0 && resource.most.is_none_or(|most| most >= resource.used));
            assert!((resource.full_at * resource.used / course.settings.rate - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn machines_are_planned_by_what_is_fullest_on_them() {
        let course = Simulation::new(small()).run();
        let resource = |whose, used| Resource {
            name: "",
            whose,
            used,
            most: None,
            full_at: course.settings.rate / used,
        };
        let resources = [
            resource(Whose::Nodes, 0.35),
            resource(Whose::Nodes, 0.2),
            resource(Whose::Gateways, 1.4),
            resource(Whose::Nats, 0.1),
        ];
        let planned = Machines::planned(&course, &resources);
        let simulated = Machines::simulated(&course);
        let expected = Machines {
            nodes: simulated.nodes / 2,
            gateways: simulated.gateways * 2,
            nats_servers: NATS_SERVERS,
        };
        assert_eq!(planned, expected);
        let one = Machines { nodes: 1, gateways: 0, nats_servers: 0 };
        // Four vCPUs for an hour, at 3,600 executions.
        assert_eq!(
            (one.vcpus(), one.usd_per_million(0.05, 1.0).round()),
            (4, (0.2 / 3_600.0 * 1e6f64).round())
        );
    }
}
