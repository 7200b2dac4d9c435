//! One child: warms its pages, waits, confines itself to what it is given, runs one program, ends;
//! or, where it was told to stay, runs the next program of the same session.
//!
//! Walls: what the first program was given is all that a child ever has. Folders cannot be added:
//! landlock only gets tighter.

use std::os::fd::OwnedFd;

use gristmill_protocol::{
    ChildKind, FromWorker, Outcome, PROTOCOL_VERSION, Program, ProgramLimits, ReceiveError, RunStats,
    ToWorker, WorkerLimit,
};

use crate::channel::{Channel, ChannelGone};
use crate::engine::Python;
use crate::jail::{self, Prepared};
use crate::page_warming::PageWarming;
use crate::wasi::{MountedFolder, Quota, QuotaLimits};

/// The child's whole life. Gives the exit code.
pub fn run(socket: OwnedFd, python: &mut Python, prepared: &Prepared, pages: &PageWarming) -> i32 {
    let Ok(socket) = jail::settle_child(socket, ChildKind::Programs) else { return 1 };
    // Ahead of need: the pages that a run will write are copied now, not while someone waits.
    if pages.warm(python).and_then(|()| python.ready()).is_err() {
        return 1;
    }
    python.host().channel.connect(socket);
    if prepared.filter_system_calls().is_err() {
        return 1;
    }
    if python.host().channel.send(&FromWorker::Hello { version: PROTOCOL_VERSION }).is_err() {
        return 1;
    }
    let mut turn = Turn::First;
    loop {
        let (program, descriptors) = match next_program(&mut python.host().channel, turn) {
            Ok(next) => next,
            Err(code) => return code,
        };
        match run_one(&program, descriptors, turn, python, prepared) {
            Ok(After::Stay) => turn = Turn::Further,
            Ok(After::End) => return 0,
            Err(_) => return 1,
        }
    }
}

/// Which of a child's programs it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    Further,
}

/// What becomes of a child whose program is done.
enum After {
    Stay,
    End,
}

/// CPU of a child that waits for another program: it only reads a message.
const WAITING_CPU_MS: u64 = 1000;

/// Waits for a program; where there is none, gives the exit code.
fn next_program(channel: &mut Channel, turn: Turn) -> Result<(Box<Program>, Vec<OwnedFd>), i32> {
    loop {
        let mut descriptors = Vec::new();
        match channel.receive(&mut descriptors) {
            Ok(ToWorker::Run(program)) => return Ok((program, descriptors)),
            // An answer that the program before did not wait for.
            Ok(ToWorker::Completed(_)) if turn == Turn::Further => {}
            // The gateway has no use for this child any more.
            Err(ReceiveError::Closed) => return Err(0),
            Ok(ToWorker::Completed(_) | ToWorker::Analyze(_)) | Err(_) => return Err(1),
        }
    }
}

fn run_one(
    program: &Program,
    descriptors: Vec<OwnedFd>,
    turn: Turn,
    python: &mut Python,
    prepared: &Prepared,
) -> Result<After, ChannelGone> {
    let cpu_us_before = jail::cpu_us();
    let confined = match turn {
        Turn::First => confine(program, descriptors, python, prepared),
        Turn::Further => continue_with(program, &descriptors, python),
    };
    let outcome = match confined {
        Ok(()) => match python.run(program) {
            Ok(told) => Outcome::Told(told),
            Err(trap) => Outcome::Trapped(trap),
        },
        Err(reason) => Outcome::Refused(reason),
    };
    let stats = stats(python, cpu_us_before);
    // Without its interpreter a child is of no use. The limit: a program that used all but a moment
    // of its time must not end the child that waits for the next one.
    let stays = program.stay
        && matches!(outcome, Outcome::Told(_))
        && jail::limit_cpu(WAITING_CPU_MS, program.stay).is_ok();
    let after = if stays { After::Stay } else { After::End };
    python.host().channel.send(&FromWorker::Done { outcome, stats })?;
    Ok(after)
}

/// The same for a further program of the session: limits anew, in the folders that are there.
fn continue_with(program: &Program, descriptors: &[OwnedFd], python: &mut Python) -> Result<(), String> {
    check_version(program)?;
    if !descriptors.is_empty() || !program.mounts.is_empty() {
        return Err("a child that has its folders was given others".to_owned());
    }
    let limits = &program.limits;
    jail::limit_cpu(limits.cpu_ms, program.stay).map_err(|error| error.to_string())?;
    let host = python.host();
    host.channel.forget_answers();
    host.wasi.folders.continue_with(
        quota_limits(limits),
        limits.workspace_bytes_used,
        limits.workspace_files_used,
    );
    host.memory.set(limits.memory_bytes);
    Ok(())
}

fn check_version(program: &Program) -> Result<(), String> {
    match program.version {
        PROTOCOL_VERSION => Ok(()),
        version => Err(format!("protocol {PROTOCOL_VERSION} here, {version} there")),
    }
}

fn quota_limits(limits: &ProgramLimits) -> QuotaLimits {
    QuotaLimits {
        file_bytes: limits.file_bytes,
        workspace_bytes: limits.workspace_bytes,
        workspace_files: limits.workspace_files,
        open_files: limits.open_files,
    }
}

/// Everything that must hold before the first instruction of the program.
fn confine(
    program: &Program,
    descriptors: Vec<OwnedFd>,
    python: &mut Python,
    prepared: &Prepared,
) -> Result<(), String> {
    check_version(program)?;
    if descriptors.len() != program.mounts.len() {
        return Err(format!("{} folders but {} descriptors", program.mounts.len(), descriptors.len()));
    }
    let mounts: Vec<MountedFolder> = program
        .mounts
        .iter()
        .zip(descriptors)
        .map(|(mount, fd)| MountedFolder { name: mount.name.clone(), fd, access: mount.access })
        .collect();
    prepared.confine_to(&mounts).map_err(|error| error.to_string())?;
    let limits = &program.limits;
    jail::limit_cpu(limits.cpu_ms, program.stay).map_err(|error| error.to_string())?;
    let quota = Quota::new(quota_limits(limits), limits.workspace_bytes_used, limits.workspace_files_used);
    let host = python.host();
    host.wasi.folders.mount(mounts, quota);
    host.memory.set(limits.memory_bytes);
    Ok(())
}

fn stats(python: &mut Python, cpu_us_before: u64) -> RunStats {
    let host = python.host();
    let mut limits_hit = Vec::new();
    if host.memory.refused() {
        limits_hit.push(WorkerLimit::Memory);
    }
    let quota = host.wasi.folders.quota();
    limits_hit.extend(quota.into_iter().flat_map(Quota::limits_hit));
    let (workspace_bytes_used, workspace_files_used) = quota.map_or((0, 0), Quota::used);
    RunStats {
        memory_peak_bytes: host.memory.bytes_peak() as u64,
        cpu_us: jail::cpu_us().saturating_sub(cpu_us_before),
        limits_hit,
        workspace_bytes_used,
        workspace_files_used,
    }
}
