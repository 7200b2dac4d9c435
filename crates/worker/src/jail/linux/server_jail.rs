//! The jail of a server that we start: which walls it gets, in which order, and what happens where one
//! of them cannot be had.
//!
//! ```text
//! upstream supervisor ─ starts ─► launcher ─ forks into namespaces ─► first process ─ forks ─► the server
//!                                 waits, cleans up                    raises the walls, reaps
//! ```

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use gristmill_protocol::{SandboxedAccess, SandboxedNetwork, SandboxedPath, ServerSandbox, Wall};
use rustix::process::{Pid, WaitOptions, WaitStatus};

use super::namespaces::{self, NamespacesEntered};
use super::{die_with_parent, landlock_rules, server_calls, server_network, server_view};
use crate::fork::{Forked, exit_now, fork};
use crate::jail::remedy_for;
use crate::upstream_supervisor::let_go_of_input_and_output;

/// What a shell answers for a command that may not be run.
const REFUSED: i32 = 126;

/// What tells about the machine and about nobody in particular, where a server has no `/proc` of its own.
const MACHINE: [&str; 7] = [
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
    "/proc/filesystems",
    "/proc/loadavg",
];

/// Runs a server behind its walls until it ends, and gives its exit code.
pub fn run_server(sandbox: &ServerSandbox, command: &[OsString]) -> i32 {
    let made = std::fs::create_dir_all(sandbox.root()).and(std::fs::create_dir_all(sandbox.temporary()));
    let forked = made.and_then(|()| namespaces::fork_server(sandbox.network != SandboxedNetwork::Open));
    match forked {
        Ok((Forked::Child, entered)) => exit_now(first_process(sandbox, &entered, command)),
        Ok((Forked::Parent(pid), _)) => {
            let_go_of_input_and_output();
            let code = code_of(wait_for(pid));
            let _ = std::fs::remove_dir_all(&sandbox.scratch);
            code
        }
        Err(error) => refuse(&format!("it can't be set up: {error}")),
    }
}

fn first_process(sandbox: &ServerSandbox, entered: &NamespacesEntered, command: &[OsString]) -> i32 {
    let temporary = match confine(sandbox, entered) {
        Ok(temporary) => temporary,
        Err(why) => return refuse(&why),
    };
    match fork() {
        Ok(Forked::Child) => exit_now(execute(&temporary, command)),
        // As the first of its namespace it takes everything along when it ends.
        Ok(Forked::Parent(pid)) => {
            let_go_of_input_and_output();
            code_of(wait_for(pid))
        }
        Err(error) => refuse(&format!("it can't be started: {error}")),
    }
}

/// Raises every wall that the machine gives, or says why that is not enough. Gives the server's folder for
/// temporary files.
fn confine(sandbox: &ServerSandbox, entered: &NamespacesEntered) -> Result<PathBuf, String> {
    die_with_parent().map_err(|error| error.to_string())?;
    let mut missing: Vec<(Wall, String)> = Vec::new();
    let has_namespaces = match entered {
        NamespacesEntered::All | NamespacesEntered::AllButUser(_) => true,
        NamespacesEntered::None(why) => {
            missing.push((Wall::PidNamespace, why.clone()));
            false
        }
    };
    if sandbox.network == SandboxedNetwork::Proxy {
        // By port alone landlock would let a server reach any machine that listens on the proxy's.
        if !has_namespaces {
            let remedy = remedy_for(Wall::NetworkNamespace);
            return Err(format!("`network` by host needs a network namespace: {remedy}"));
        }
        let handed = server_network::hand_over_listener(&sandbox.proxy_socket());
        handed.map_err(|error| format!("the proxy can't be reached: {error}"))?;
    }
    let has_view = has_namespaces
        && server_view::enter(sandbox)
            .map_err(|error| missing.push((Wall::MountNamespace, error.to_string())))
            .is_ok();
    namespaces::drop_capabilities().map_err(|error| error.to_string())?;
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no-new-privileges: {error}"))?;
    let has_landlock = match landlock_rules::abi() {
        0 => Err("ABI 0".to_owned()),
        _ => landlock_rules::restrict_server(&paths(sandbox, has_view), sandbox.network)
            .map_err(|error| error.detail),
    }
    .map_err(|why| missing.push((Wall::Landlock, why)))
    .is_ok();
    let has_filter = server_calls::filter(sandbox.network)
        .map_err(|error| missing.push((Wall::Seccomp, error.detail)))
        .is_ok();
    let is_closed = has_filter || has_namespaces || sandbox.network != SandboxedNetwork::Closed;
    judge(&missing, sandbox.required || !(has_view || has_landlock) || !is_closed)?;
    Ok(if has_view { PathBuf::from(server_view::TEMPORARY) } else { sandbox.temporary() })
}

/// Says what is missing, and whether that is the end of it.
fn judge(missing: &[(Wall, String)], is_required: bool) -> Result<(), String> {
    let Some((wall, why)) = missing.first() else { return Ok(()) };
    let layers = missing.iter().map(|(wall, _)| name_of(*wall)).collect::<Vec<_>>().join(" and ");
    if is_required {
        return Err(format!(
            "it needs {layers}, which this machine doesn't have ({why}); {}",
            remedy_for(*wall)
        ));
    }
    eprintln!(
        "gristmill: this server's sandbox has no {layers} ({why}); `gristmill doctor` says how to get it"
    );
    Ok(())
}

fn name_of(wall: Wall) -> &'static str {
    match wall {
        Wall::MountNamespace => "view of its own",
        Wall::Landlock => "landlock",
        Wall::Seccomp => "seccomp",
        Wall::PidNamespace | Wall::UserNamespace | Wall::NetworkNamespace => "namespaces",
        Wall::Wasm | Wall::Process | Wall::NoNewPrivileges | Wall::Rlimits => "process of its own",
    }
}

/// What landlock lets pass. Where there is no view, hidden folders must be left out one by one, and the
/// processes of others are not shown.
fn paths(sandbox: &ServerSandbox, has_view: bool) -> Vec<SandboxedPath> {
    let given = |path: &str, access| SandboxedPath { path: path.into(), access };
    let mut paths: Vec<SandboxedPath> =
        server_view::DEVICES.iter().map(|device| given(device, SandboxedAccess::Write)).collect();
    if has_view {
        paths.extend(sandbox.paths.iter().cloned());
        paths.push(given(server_view::TEMPORARY, SandboxedAccess::Write));
        paths.push(given("/proc", SandboxedAccess::Read));
        return paths;
    }
    for SandboxedPath { path, access } in &sandbox.paths {
        let mut left = Vec::new();
        leave_out(path, &sandbox.hidden, &mut left);
        paths.extend(left.into_iter().map(|path| SandboxedPath { path, access: *access }));
    }
    paths.push(SandboxedPath { path: sandbox.temporary(), access: SandboxedAccess::Write });
    paths.extend(MACHINE.iter().map(|path| given(path, SandboxedAccess::Read)));
    paths
}

/// A path, or all that is in it but the hidden.
fn leave_out(path: &Path, hidden: &[PathBuf], left: &mut Vec<PathBuf>) {
    if hidden.iter().any(|hidden| hidden == path) {
        return;
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        left.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        // A rule would be for what a link leads to.
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            continue;
        }
        leave_out(&entry.path(), hidden, left);
    }
}

fn execute(temporary: &Path, command: &[OsString]) -> i32 {
    let Some((program, arguments)) = command.split_first() else { return refuse("no command") };
    let _ = die_with_parent();
    let mut starting = Command::new(program);
    starting.args(arguments);
    for name in ["TMPDIR", "TMP", "TEMP"] {
        starting.env(name, temporary);
    }
    let error = starting.exec();
    refuse(&format!(
        "`{}` can't be started in it: {error}; name the folder that it is in under `sandbox.read`",
        program.to_string_lossy()
    ))
}

fn refuse(why: &str) -> i32 {
    eprintln!("gristmill: no sandbox for this server: {why}");
    REFUSED
}

/// Waits for one process, and reaps whatever else ends meanwhile.
fn wait_for(wanted: Pid) -> Option<WaitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == wanted => return Some(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn code_of(status: Option<WaitStatus>) -> i32 {
    let Some(status) = status else { return 1 };
    status.exit_status().unwrap_or_else(|| 128 + status.terminating_signal().unwrap_or(0))
}
