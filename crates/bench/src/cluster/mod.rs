//! `gristmill bench cluster --simulate`: gateways, nodes and NATS servers, far more of them than can be tried on one
//! machine, in simulated time. Seeded: the same seed gives the same figures. It checks its own books and fails if they
//! don't agree.
//!
//! What is simulated is the design's policy, on what each gateway has heard; beside it stands a baseline that knows
//! everything. What things cost is in `costs`, what the design fixes in `design`. Nothing here starts a process, opens
//! a socket or reads a clock.

mod arguments;
mod costs;
mod design;

mod load;
mod random;

mod beliefs;
mod fair_queue;
mod gateway;
mod node;
mod sessions;
mod simulation;
mod slab;
mod timeline;

mod capacity;
mod figures;
mod ledger;
mod report;
mod report_json;
mod traffic;

#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::thread;

use anyhow::anyhow;

use crate::BenchError;
use design::{Placement, Settings};
use report::Report;
use simulation::{Course, Simulation};

pub use arguments::ClusterArguments;

/// What other measurements have flags for, too.
pub struct Shared {
    pub sessions: Option<usize>,
    pub seconds: Option<u64>,
    pub json: bool,
}

pub fn measure(cluster: &ClusterArguments, shared: &Shared) -> Result<ExitCode, BenchError> {
    if !cluster.simulate {
        return Err(BenchError::Usage(anyhow!(
            "pass --simulate; for a real cluster on this machine, run `python3 ci/cluster_test.py` in the repository"
        )));
    }
    let settings = cluster.settings(shared.sessions, shared.seconds).map_err(BenchError::Usage)?;
    eprintln!("simulating {} s of {} nodes, and a baseline beside it", settings.seconds, settings.nodes);
    let (design, baseline) = both(settings);
    let report = Report::of(&design, &baseline, cluster.vcpu_price);
    match shared.json {
        true => println!("{:#}", report.json()),
        false => print!("{}", report.text()),
    }
    match design.ledger.holds() && baseline.ledger.holds() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(BenchError::Failed(anyhow!("an invariant is broken; the report says which"))),
    }
}

/// The design and the baseline, with the same requests.
fn both(settings: Settings) -> (Course, Course) {
    let omniscient = Settings { placement: Placement::Omniscient, ..settings.clone() };
    thread::scope(|scope| {
        let baseline = scope.spawn(|| Simulation::new(omniscient).run());
        let design = Simulation::new(settings).run();
        match baseline.join() {
            Ok(baseline) => (design, baseline),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
