//! One child: warms its pages, waits, confines itself to what it is given, runs one program, ends.

use std::os::fd::{AsFd, OwnedFd};

use gristmill_protocol::{
    FromWorker, MountAccess, Outcome, PROTOCOL_VERSION, Program, ReceiveError, RunStats, ToWorker,
    WorkerLimit, recv_frame,
};

use crate::engine::Python;
use crate::jail::{self, Prepared};
use crate::page_warming::PageWarming;
use crate::wasi::{MountedFolder, Quota, QuotaLimits};

/// The child's whole life. Gives the exit code.
pub fn run(socket: OwnedFd, python: &mut Python, prepared: &Prepared, pages: &PageWarming) -> i32 {
    let Ok(socket) = jail::settle_child(socket) else { return 1 };
    // Ahead of need: the pages that a run will write are copied now, not while someone waits.
    if pages.warm(python).and_then(|()| python.ready()).is_err() {
        return 1;
    }
    let Ok(line) = socket.as_fd().try_clone_to_owned() else { return 1 };
    python.host().channel.connect(line);
    if prepared.filter_system_calls().is_err() {
        return 1;
    }
    let mut descriptors = Vec::new();
    if python.host().channel.send(&FromWorker::Hello { version: PROTOCOL_VERSION }).is_err() {
        return 1;
    }
    let program = match recv_frame(&socket, &mut descriptors) {
        Ok(ToWorker::Run(program)) => program,
        // The gateway has no use for this child any more.
        Err(ReceiveError::Closed) => return 0,
        Ok(ToWorker::Completed(_)) | Err(_) => return 1,
    };
    drop(socket);
    let cpu_us_before = jail::cpu_us();
    let outcome = match confine(&program, descriptors, python, prepared) {
        Ok(()) => match python.run(&program) {
            Ok(told) => Outcome::Told(told),
            Err(trap) => Outcome::Trapped(trap),
        },
        Err(reason) => Outcome::Refused(reason),
    };
    let stats = stats(python, cpu_us_before);
    match python.host().channel.send(&FromWorker::Done { outcome, stats }) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

/// Everything that must hold before the first instruction of the program.
fn confine(
    program: &Program,
    descriptors: Vec<OwnedFd>,
    python: &mut Python,
    prepared: &Prepared,
) -> Result<(), String> {
    if program.version != PROTOCOL_VERSION {
        return Err(format!("protocol {} here, {} there", PROTOCOL_VERSION, program.version));
    }
    if descriptors.len() != program.mounts.len() {
        return Err(format!("{} folders but {} descriptors", program.mounts.len(), descriptors.len()));
    }
    let mounts: Vec<MountedFolder> = program
        .mounts
        .iter()
        .zip(descriptors)
        .map(|(mount, fd)| MountedFolder {
            name: mount.name.clone(),
            fd,
            writable: mount.access == MountAccess::ReadWrite,
        })
        .collect();
    prepared.confine_to(&mounts).map_err(|error| error.to_string())?;
    let limits = &program.limits;
    jail::limit_cpu(limits.cpu_ms).map_err(|error| error.to_string())?;
    let quota = Quota::new(
        QuotaLimits {
            file_bytes: limits.file_bytes,
            workspace_bytes: limits.workspace_bytes,
            workspace_files: limits.workspace_files,
            open_files: limits.open_files,
        },
        limits.workspace_bytes_used,
        limits.workspace_files_used,
    );
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
