//! One child: warms its pages, waits, confines itself to what it is given, runs one program, ends;
//! or, where it was told to stay, runs the next program of the same session.
//!
//! Invariants: what it was confined to before its first program is all that a child ever has. Folders cannot be added:
//! landlock only gets tighter. No program is run by a child that is not confined.

use std::os::fd::OwnedFd;

use gristmill_protocol::{
    ChildKind, Confinement, EngineId, FRAME_BYTES_MAX, FromWorker, Outcome, PROTOCOL_VERSION, Program,
    ProgramLimits, ReceiveError, RunStats, ToWorker, Trap, TrapKind,
};

use crate::channel::{Channel, ChannelClosed};
use crate::engine::{EngineUse, Interpreter, MountedFolder};
use crate::jail::{self, Prepared};
use crate::page_warming::PageWarming;

/// The child's whole life. Gives the exit code.
pub fn run(
    socket: OwnedFd,
    interpreter: &mut dyn Interpreter,
    prepared: &Prepared,
    pages: &PageWarming,
) -> i32 {
    let Ok(socket) = jail::detach_child(socket, ChildKind::Programs) else { return 1 };
    // Ahead of need: the pages that a run will write are copied now, not while someone waits.
    if pages.warm(interpreter).and_then(|()| interpreter.ready()).is_err() {
        return 1;
    }
    interpreter.channel().connect(socket);
    if prepared.wall_in().is_err() {
        return 1;
    }
    if interpreter
        .channel()
        .send(&FromWorker::Hello { version: PROTOCOL_VERSION, cpu_us: jail::cpu_us() })
        .is_err()
    {
        return 1;
    }
    let mut turn = match confinement(interpreter.channel()) {
        Ok((confinement, descriptors)) => {
            let began_at_us = jail::cpu_us();
            let confined = confine(&confinement, descriptors, interpreter, prepared);
            let cpu_us = jail::cpu_us().saturating_sub(began_at_us);
            Turn::First { confined: confined.map(|()| confinement.limits), cpu_us }
        }
        Err(code) => return code,
    };
    loop {
        let program = match next_program(interpreter.channel(), &turn) {
            Ok(next) => next,
            Err(code) => return code,
        };
        match run_one(&program, turn, interpreter) {
            Ok(After::Stay) => turn = Turn::Further,
            // To end by itself would take its memory apart on the core that the answer goes out on.
            Ok(After::End) => {
                interpreter.channel().wait_for_hang_up();
                return 0;
            }
            Err(_) => return 1,
        }
    }
}

/// Which of a child's programs it is.
enum Turn {
    First {
        /// With which limits it was, or why it was not.
        confined: Result<ProgramLimits, String>,
        /// What that took, which counts as its own.
        cpu_us: u64,
    },
    Further,
}

/// What becomes of a child whose program is done.
enum After {
    Stay,
    End,
}

/// CPU of a child that waits for another program: it only reads a message.
const WAITING_CPU_MS: u64 = 1000;

/// Largest outcome: what fits into a frame, with room for its statistics. A guest whose program has changed it may
/// make a larger one.
const OUTCOME_BYTES_MAX: usize = FRAME_BYTES_MAX - 64 * 1024;

fn oversized(bytes: usize) -> Trap {
    Trap { kind: TrapKind::Crash, message: format!("an outcome of {bytes} bytes, more than can be sent") }
}

/// Waits for what it may have; where nothing comes, gives the exit code.
fn confinement(channel: &mut Channel) -> Result<(Box<Confinement>, Vec<OwnedFd>), i32> {
    let mut descriptors = Vec::new();
    match channel.receive(&mut descriptors) {
        Ok(ToWorker::Confine(confinement)) => Ok((confinement, descriptors)),
        // The gateway has no use for this child any more.
        Err(ReceiveError::Closed) => Err(0),
        Ok(ToWorker::Run(_) | ToWorker::Completed(_) | ToWorker::Analyze(_)) | Err(_) => Err(1),
    }
}

/// Waits for a program; where there is none, gives the exit code.
fn next_program(channel: &mut Channel, turn: &Turn) -> Result<Box<Program>, i32> {
    loop {
        let mut descriptors = Vec::new();
        match channel.receive(&mut descriptors) {
            Ok(ToWorker::Run(program)) if descriptors.is_empty() => return Ok(program),
            // An answer that the program before did not wait for.
            Ok(ToWorker::Completed(_)) if matches!(turn, Turn::Further) => {}
            // The gateway has no use for this child any more: its program may have been refused meanwhile.
            Err(ReceiveError::Closed) => return Err(0),
            Ok(ToWorker::Confine(_) | ToWorker::Run(_) | ToWorker::Completed(_) | ToWorker::Analyze(_))
            | Err(_) => return Err(1),
        }
    }
}

fn run_one(program: &Program, turn: Turn, interpreter: &mut dyn Interpreter) -> Result<After, ChannelClosed> {
    let began_at_us = jail::cpu_us();
    let (ready, cpu_us_before) = match turn {
        Turn::First { confined, cpu_us } => {
            (begin(program, confined, interpreter), began_at_us.saturating_sub(cpu_us))
        }
        Turn::Further => (continue_with(program, interpreter), began_at_us),
    };
    let outcome = match ready {
        Ok(()) => match interpreter.run(program) {
            Ok(told) if told.len() > OUTCOME_BYTES_MAX => Outcome::Trapped(oversized(told.len())),
            Ok(told) => Outcome::Returned(told),
            Err(trap) => Outcome::Trapped(trap),
        },
        Err(reason) => Outcome::Refused(reason),
    };
    let stats = stats(interpreter.used(), cpu_us_before);
    // Without its interpreter a child is of no use. The limit: a program that used all but a moment
    // of its time must not end the child that waits for the next one.
    let stays = program.stay
        && matches!(outcome, Outcome::Returned(_))
        && jail::limit_cpu(WAITING_CPU_MS, program.stay).is_ok();
    let after = if stays { After::Stay } else { After::End };
    interpreter.channel().send(&FromWorker::Done { outcome, stats })?;
    Ok(after)
}

/// The first program: in a child that is confined as it needs.
fn begin(
    program: &Program,
    confined: Result<ProgramLimits, String>,
    interpreter: &mut dyn Interpreter,
) -> Result<(), String> {
    check(program, interpreter.engine())?;
    if confined? != program.limits {
        return Err("a child that was confined with other limits".to_owned());
    }
    jail::limit_cpu(program.limits.cpu_ms, program.stay).map_err(|error| error.to_string())
}

/// A further program of the session: limits anew, in the folders that are there.
fn continue_with(program: &Program, interpreter: &mut dyn Interpreter) -> Result<(), String> {
    check(program, interpreter.engine())?;
    jail::limit_cpu(program.limits.cpu_ms, program.stay).map_err(|error| error.to_string())?;
    interpreter.renew(&program.limits);
    Ok(())
}

fn check(program: &Program, engine: EngineId) -> Result<(), String> {
    match (program.version, program.engine) {
        (PROTOCOL_VERSION, wanted) if wanted == engine => Ok(()),
        (PROTOCOL_VERSION, wanted) => Err(format!("a program for {wanted} in a child with {engine}")),
        (version, _) => Err(other_version(version)),
    }
}

fn other_version(version: u32) -> String {
    format!("protocol {PROTOCOL_VERSION} here, {version} there")
}

/// Everything that must hold before the first instruction of a program.
fn confine(
    confinement: &Confinement,
    descriptors: Vec<OwnedFd>,
    interpreter: &mut dyn Interpreter,
    prepared: &Prepared,
) -> Result<(), String> {
    let Confinement { version, limits, mounts } = confinement;
    if *version != PROTOCOL_VERSION {
        return Err(other_version(*version));
    }
    if descriptors.len() != mounts.len() {
        return Err(format!("{} folders but {} descriptors", mounts.len(), descriptors.len()));
    }
    let named = mounts.iter().cloned().zip(descriptors);
    let folders: Vec<_> = named.map(|(mount, folder)| MountedFolder::new(mount, folder)).collect();
    prepared.confine_to(&folders, limits).map_err(|error| error.to_string())?;
    interpreter.give(folders, limits);
    Ok(())
}

fn stats(used: EngineUse, cpu_us_before: u64) -> RunStats {
    RunStats {
        memory_peak_bytes: used.memory_peak_bytes,
        cpu_us: jail::cpu_us().saturating_sub(cpu_us_before),
        limits_hit: used.limits_hit,
        workspace_bytes_used: used.workspace_bytes,
        workspace_files_used: used.workspace_files,
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use gristmill_protocol::{Completion, send_frame};

    use super::*;

    fn confinement_message() -> ToWorker {
        let (limits, mounts) = (ProgramLimits::TRUSTED, Vec::new());
        ToWorker::Confine(Box::new(Confinement { version: PROTOCOL_VERSION, limits, mounts }))
    }

    fn program() -> ToWorker {
        ToWorker::Run(Box::new(crate::engine::trusted_program(EngineId::Python, "1")))
    }

    fn answer() -> ToWorker {
        ToWorker::Completed(Completion { id: 1, ok: true, payload: String::new() })
    }

    /// The exit code of a child that is told this in a turn, or `None` if it goes on.
    fn exit_code(turn: Option<Turn>, message: Option<&ToWorker>, copies: usize) -> Option<i32> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut channel = Channel::unconnected();
        channel.connect(OwnedFd::from(theirs));
        if let Some(message) = message {
            send_frame(&ours, message, &vec![ours.as_fd(); copies]).unwrap();
        }
        drop(ours);
        match turn {
            None => confinement(&mut channel).err(),
            Some(turn) => next_program(&mut channel, &turn).err(),
        }
    }

    #[test]
    fn a_child_takes_no_program_before_its_walls_and_no_folders_after() {
        let first = || Some(Turn::First { confined: Ok(ProgramLimits::TRUSTED), cpu_us: 0 });
        assert_eq!(exit_code(None, Some(&confinement_message()), 2), None);
        assert_eq!(exit_code(None, Some(&program()), 0), Some(1));
        assert_eq!(exit_code(None, Some(&answer()), 0), Some(1));
        assert_eq!(exit_code(None, None, 0), Some(0));
        assert_eq!(exit_code(first(), Some(&program()), 0), None);
        assert_eq!(exit_code(first(), Some(&program()), 1), Some(1));
        assert_eq!(exit_code(first(), Some(&confinement_message()), 0), Some(1));
        assert_eq!(exit_code(first(), Some(&answer()), 0), Some(1));
        // Its program was refused.
        assert_eq!(exit_code(first(), None, 0), Some(0));
        assert_eq!(exit_code(Some(Turn::Further), Some(&confinement_message()), 0), Some(1));
        // An answer that came late is passed over, and nothing comes after it.
        assert_eq!(exit_code(Some(Turn::Further), Some(&answer()), 0), Some(0));
    }
}
