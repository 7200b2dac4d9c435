//! Where other gateways share the state, nothing is answered that they couldn't go on from. This binary is also the
//! worker that its programs run in.

#[cfg(target_os = "linux")]
mod answers;
#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "tests of other servers use the rest of it")]
#[path = "../support/messages.rs"]
mod messages;

use libtest_mimic::{Arguments, Trial};

fn main() {
    // Before the arguments are read: a worker has other ones.
    let trials = trials();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

#[cfg(target_os = "linux")]
fn trials() -> Vec<Trial> {
    gristmill_testkit::scripted_worker::run_if_worker();
    answers::trials()
}

/// Scripted workers are for Linux alone.
#[cfg(not(target_os = "linux"))]
fn trials() -> Vec<Trial> {
    Vec::new()
}
