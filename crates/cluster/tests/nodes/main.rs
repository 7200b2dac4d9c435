//! Programs on nodes, on a bus that loses, doubles and cuts off, with nodes and gateways that go away. This binary is
//! also the worker that its machines start.

#[cfg(target_os = "linux")]
mod bus;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod losses;
#[cfg(target_os = "linux")]
mod places;
#[cfg(target_os = "linux")]
mod runs;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod versions;

use libtest_mimic::{Arguments, Trial};

#[cfg(target_os = "linux")]
fn trials() -> Vec<Trial> {
    gristmill_testkit::scripted_worker::run_if_worker();
    let all = [runs::trials(), files::trials(), losses::trials(), places::trials(), versions::trials()];
    all.into_iter().flatten().collect()
}

/// Scripted workers are ended by pidfd and by the parent-death signal, which Linux alone has.
#[cfg(not(target_os = "linux"))]
fn trials() -> Vec<Trial> {
    Vec::new()
}

fn main() {
    let trials = trials();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
