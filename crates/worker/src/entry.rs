//! The hidden commands under which a binary becomes a worker.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::artifact::Artifact;
use crate::{keeper, upstream_keeper};

/// `gristmill worker-zygote CACHE SCRATCH`, with the control socket as standard input.
pub const ZYGOTE_COMMAND: &str = "worker-zygote";

/// `gristmill worker-compile CACHE`, with a pipe as standard input that closes when nobody waits.
pub const COMPILE_COMMAND: &str = "worker-compile";

/// `gristmill upstream-keeper COMMAND ARGUMENT…`, with a server's pipes.
pub const UPSTREAM_KEEPER_COMMAND: &str = "upstream-keeper";

/// Call this first in `main`, before any thread or runtime is started: when the process was
/// started as a worker it does that work and gives the exit code, otherwise `None`.
pub fn run_if_worker() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next()?;
    let rest: Vec<OsString> = arguments.collect();
    match command.to_str()? {
        ZYGOTE_COMMAND => Some(match <[OsString; 2]>::try_from(rest) {
            Ok([cache, scratch]) => keeper::run(PathBuf::from(cache), PathBuf::from(scratch)),
            Err(_) => usage(),
        }),
        COMPILE_COMMAND => Some(match <[OsString; 1]>::try_from(rest) {
            Ok([cache]) => compile(PathBuf::from(cache)),
            Err(_) => usage(),
        }),
        UPSTREAM_KEEPER_COMMAND => Some(match rest.split_first() {
            Some((command, arguments)) => upstream_keeper::run(command, arguments),
            None => usage(),
        }),
        _ => None,
    }
}

fn compile(cache: PathBuf) -> ExitCode {
    // Whoever asked holds the other end of our input: when it is gone, so are we.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(1);
    });
    match Artifact::in_cache(cache).and_then(|artifact| artifact.compile()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("this command is gristmill's own, for starting its workers; try `gristmill run`");
    ExitCode::from(2)
}
