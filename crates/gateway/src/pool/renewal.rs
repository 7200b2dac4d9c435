//! When a zygote makes room for a fresh one.
//!
//! All children of a zygote have its memory layout. Someone who has found out where things are, or has guessed
//! wrong once and crashed, must not try again in a sibling. So a zygote is replaced after a crash that looks
//! like an attempt, and after a number of forks. The new one is brought up beside it; the old one forks no
//! more and ends with its last child.

use gristmill_protocol::ChildExit;
use rustix::process::Signal;

/// Forks of one zygote. What was learned without a crash is worth something for so many programs. A start
/// takes as much CPU as some hundred programs, so this costs a few percent at most.
pub const FORKS_MAX: u64 = 5_000;

/// Old zygotes that still have children. A session can keep an interpreter for half an hour, and each of them
/// takes as much memory as a fresh one; when there are so many, the next renewal waits for one to end.
pub const RETIRED_MAX: usize = 4;

/// Whether a child that ended like this may have been an attempt to break out: memory that is not its own, or
/// a system call that is not on its list.
pub fn is_suspicious(exit: ChildExit) -> bool {
    let signals = [Signal::SEGV, Signal::BUS, Signal::ILL, Signal::SYS];
    matches!(exit, ChildExit::Signal(number) if signals.iter().any(|signal| signal.as_raw() == number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_and_forbidden_calls_are_suspicious_and_ends_of_ours_are_not() {
        for (exit, expected) in [
            (ChildExit::Signal(11), true),
            (ChildExit::Signal(Signal::SYS.as_raw()), true),
            (ChildExit::Signal(9), false),
            (ChildExit::Signal(Signal::PROF.as_raw()), false),
            (ChildExit::Code(0), false),
            (ChildExit::Code(11), false),
        ] {
            assert_eq!(is_suspicious(exit), expected, "{exit:?}");
        }
    }
}
