//! Keep: what becomes of an interpreter whose program has ended, and what its caller hears of it.

use gristmill_domain::LimitName;
use gristmill_protocol::{ChildExit, Outcome, TrapKind};

use super::ending::Ending;
use super::shape::{Shaped, is_cpu_limit};
use super::{Core, Interpreter, Lease};
use crate::pool::{Lost, Room};
use crate::report::VariablesReport;

/// What a program that was to keep its variables left behind.
pub(super) struct Left {
    pub lease: Lease,
    /// If it is of any use.
    pub interpreter: Option<Interpreter>,
    /// Whether the program found the variables of an earlier one.
    pub found: bool,
    /// How its end took the interpreter along, if it did.
    pub ended_by: String,
}

/// Keeps the interpreter, or ends it, and says so in the report.
pub(super) fn settle(core: &Core, left: Left, shaped: &mut Shaped) {
    let Left { mut lease, interpreter, found, ended_by } = left;
    let lost_before = lease.take_loss();
    let room = lease.room();
    let kept = match interpreter {
        None => Err(Lost::Ended(ended_by)),
        Some(interpreter) if shaped.damaged => {
            core.end(interpreter, None);
            Err(Lost::Ended("the program damaged its interpreter".to_owned()))
        }
        Some(interpreter) => {
            if !found {
                core.refill(interpreter.belongings.given.engine);
            }
            lease.keep(interpreter)
        }
    };
    let not_kept = match room {
        Room::Yes => None,
        Room::NoneKept => Some("this gateway keeps no interpreters"),
        Room::Busy => Some("another program of the session is running and leaves its own"),
    };
    shaped.report.notes.extend(not_kept.map(|why| format!("variables aren't kept: {why}")));
    let lost = lost_before.or(kept.clone().err().filter(|_| found));
    shaped.report.variables =
        Some(VariablesReport { found, kept: kept.is_ok(), lost: lost.map(|why| why.to_string()) });
}

/// How an end took the interpreter along; `cpu` is what ends one that computes too much.
pub(super) fn ended_by(ending: &Ending, cpu: LimitName) -> String {
    match ending {
        Ending::Done(Outcome::Returned(_)) => "the interpreter couldn't be kept".to_owned(),
        Ending::Done(Outcome::Refused(_)) => "the interpreter refused to go on".to_owned(),
        Ending::Done(Outcome::Trapped(trap)) => match trap.kind {
            TrapKind::StackOverflow => "the interpreter's stack overflowed".to_owned(),
            TrapKind::Exit => "the program ended the interpreter".to_owned(),
            TrapKind::Crash => "the interpreter crashed".to_owned(),
        },
        Ending::Limit(LimitName::WallTime) => "the program timed out".to_owned(),
        Ending::Limit(name) => format!("the program hit its limit `{}`", name.as_str()),
        Ending::Cancelled => "the program was canceled".to_owned(),
        Ending::Lost(Some(ChildExit::Signal(signal))) if is_cpu_limit(*signal) => {
            format!("the program hit its limit `{}`", cpu.as_str())
        }
        Ending::Lost(_) => "the interpreter's process was lost".to_owned(),
        Ending::Misbehaved(_) => "the interpreter broke the protocol".to_owned(),
        Ending::NodeLost { node } => format!("the node {node} was lost"),
    }
}
