//! The hidden commands under which a binary becomes a worker.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use gristmill_protocol::ServerSandbox;

use crate::{jail, supervisor, upstream_supervisor};

/// `gristmill worker-zygote CACHE SCRATCH`, with the control socket as standard input.
pub const ZYGOTE_COMMAND: &str = "worker-zygote";

/// `gristmill upstream-supervisor COMMAND ARGUMENT…`, with a server's pipes.
pub const UPSTREAM_SUPERVISOR_COMMAND: &str = "upstream-supervisor";

/// `gristmill server-sandbox WORDS… -- COMMAND ARGUMENT…`: the server of a supervisor, behind walls.
pub const SERVER_SANDBOX_COMMAND: &str = "server-sandbox";

/// `gristmill type-checker COMMAND ARGUMENT…`: the same for a type checker, which has limits.
pub const TYPE_CHECKER_COMMAND: &str = "type-checker";

/// Call this first in `main`, before any thread or runtime is started: when the process was
/// started as a worker it does that work and gives the exit code, otherwise `None`.
pub fn run_if_worker() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next()?;
    let rest: Vec<OsString> = arguments.collect();
    match command.to_str()? {
        ZYGOTE_COMMAND => Some(match <[OsString; 2]>::try_from(rest) {
            Ok([cache, scratch]) => supervisor::run(PathBuf::from(cache), PathBuf::from(scratch)),
            Err(_) => usage(),
        }),
        UPSTREAM_SUPERVISOR_COMMAND => Some(match rest.split_first() {
            Some((command, arguments)) => upstream_supervisor::run(command, arguments),
            None => usage(),
        }),
        TYPE_CHECKER_COMMAND => Some(match rest.split_first() {
            Some((command, arguments)) => {
                upstream_supervisor::limit_type_checker();
                upstream_supervisor::run(command, arguments)
            }
            None => usage(),
        }),
        SERVER_SANDBOX_COMMAND => Some(match ServerSandbox::from_words(&rest) {
            Some((sandbox, command)) if !command.is_empty() => {
                upstream_supervisor::outlive_polite_signals();
                let code = jail::run_server(&sandbox, command);
                ExitCode::from(u8::try_from(code).unwrap_or(1))
            }
            Some(_) | None => usage(),
        }),
        _ => None,
    }
}

fn usage() -> ExitCode {
    eprintln!("this command is internal: gristmill starts its workers with it; try `gristmill run`");
    ExitCode::from(2)
}
