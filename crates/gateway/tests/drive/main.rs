//! Workers that lie, stall, flood or die, in every way that the protocol leaves open to them: what the
//! caller reads, that the next program runs, that caps hold and that no process is left. This binary is
//! also the worker that it starts.

#[cfg(target_os = "linux")]
mod analyses;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod checks;
#[cfg(target_os = "linux")]
mod deaths;
#[cfg(target_os = "linux")]
mod floods;
#[cfg(target_os = "linux")]
mod frames;
#[cfg(target_os = "linux")]
mod greetings;
#[cfg(target_os = "linux")]
mod idle;
#[cfg(target_os = "linux")]
mod languages;
#[cfg(target_os = "linux")]
mod outcomes;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod restarts;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod zygotes;

use libtest_mimic::{Arguments, Trial};

#[cfg(target_os = "linux")]
fn trials() -> Vec<Trial> {
    gristmill_testkit::scripted_worker::run_if_worker();
    let modules = [
        frames::trials(),
        outcomes::trials(),
        output::trials(),
        calls::trials(),
        floods::trials(),
        deaths::trials(),
        idle::trials(),
        greetings::trials(),
        zygotes::trials(),
        restarts::trials(),
        analyses::trials(),
        checks::trials(),
        languages::trials(),
    ];
    modules.into_iter().flatten().collect()
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
