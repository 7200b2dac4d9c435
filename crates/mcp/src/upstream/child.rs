//! A stdio server as a process: started through a supervisor, in a group of its own, with an
//! environment that holds what the configuration names and the few variables that every program
//! needs. Its standard error becomes lines in a log.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::upstream::{ServerLog, UpstreamFailure};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use gristmill_gateway::domain::SandboxSettings;

use super::redact::Redactor;
use super::sandbox::{self, Confined, Sandbox};

/// What a server inherits without being asked: where programs are, who and where its user is, and
/// how text is written. No variable that carries a secret by custom.
const INHERITED: [&str; 15] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// A line of standard error that is longer is cut.
const LOG_LINE_BYTES_MAX: usize = 4096;

/// What has closed its output ends soon, or does not mean to.
const EXIT_WAIT: Duration = Duration::from_secs(1);

/// After its end, what it wrote last may still be on its way to the log.
const LAST_WORDS_WAIT: Duration = Duration::from_millis(1500);

/// After its input was closed a server may finish what it does.
const END_GRACE: Duration = Duration::from_secs(2);

/// How a supervisor is started: a program and its first argument.
#[derive(Clone, Debug)]
pub struct SupervisorCommand {
    /// Our own binary, usually.
    pub program: PathBuf,
    pub argument: OsString,
    /// The argument under which it confines a server.
    pub sandbox: OsString,
}

pub(crate) struct Start<'a> {
    pub supervisor: &'a SupervisorCommand,
    pub command: &'a str,
    pub arguments: &'a [String],
    pub environment: &'a BTreeMap<String, String>,
    pub folder: Option<&'a Path>,
    pub sandbox: Option<&'a SandboxSettings>,
    /// What a confined server never sees.
    pub hidden: &'a [PathBuf],
}

/// A server's process. Dropping it ends the server, by way of the supervisor.
pub(crate) struct ServerProcess {
    supervisor: Option<Pid>,
    exit: watch::Receiver<Option<ExitStatus>>,
    log: tokio::task::JoinHandle<()>,
    /// Cancelled when all of its standard error is in the log.
    log_ended: CancellationToken,
}

/// A server's process with its two pipes.
pub(crate) struct Started {
    pub process: ServerProcess,
    pub input: ChildStdin,
    pub output: ChildStdout,
}

pub(crate) fn start(
    start: &Start<'_>,
    log: Arc<ServerLog>,
    redactor: Redactor,
) -> Result<Started, UpstreamFailure> {
    let environment = environment(start);
    check(start, &environment)?;
    let confined = |settings| {
        let Start { command, arguments, folder, hidden, .. } = *start;
        Confined { settings, command, arguments, folder, environment: &environment, hidden }
    };
    let sandbox = match start.sandbox {
        Some(settings) => Some(Sandbox::new(&confined(settings), &log).map_err(down)?),
        None => None,
    };
    let mut supervisor = command(start, &environment, sandbox.as_ref())
        .spawn()
        .map_err(|error| down(format!("it can't be started: {error}")))?;
    let (Some(input), Some(output), Some(error)) =
        (supervisor.stdin.take(), supervisor.stdout.take(), supervisor.stderr.take())
    else {
        return Err(down("it has no pipes".to_owned()));
    };
    let log_ended = CancellationToken::new();
    let log = tokio::spawn(pass_on_log(error, log, redactor, log_ended.clone().drop_guard()));
    let pid = supervisor.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    let (exited, exit) = watch::channel(None);
    tokio::spawn(async move {
        let status = supervisor.wait().await.unwrap_or_default();
        if status.signal().is_some() {
            end_group(pid);
        }
        drop(sandbox);
        exited.send_replace(Some(status));
    });
    Ok(Started { process: ServerProcess { supervisor: pid, exit, log, log_ended }, input, output })
}

fn down(why: String) -> UpstreamFailure {
    UpstreamFailure::Down(why)
}

/// All its variables: what it inherits, then what the configuration names.
fn environment(start: &Start<'_>) -> BTreeMap<String, OsString> {
    let names: Vec<&str> = match start.sandbox {
        None => INHERITED.to_vec(),
        Some(SandboxSettings { env: Some(names), .. }) => names.iter().map(String::as_str).collect(),
        Some(SandboxSettings { env: None, .. }) => sandbox::INHERITED.to_vec(),
    };
    let inherited = names.into_iter().filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?)));
    let mut environment: BTreeMap<String, OsString> = inherited.collect();
    environment
        .extend(start.sandbox.into_iter().flat_map(|settings| sandbox::proxy_variables(&settings.network)));
    let configured = start.environment.iter();
    environment.extend(configured.map(|(name, value)| (name.clone(), OsString::from(value))));
    environment
}

/// Programs and folders that are not there are named here: what the supervisor would say of them is harder
/// to read.
fn check(start: &Start<'_>, environment: &BTreeMap<String, OsString>) -> Result<(), UpstreamFailure> {
    let path = environment.get("PATH").cloned().unwrap_or_default();
    if !is_there(start.command, &path, start.folder) {
        return Err(down(format!("command `{}` not found; install it, or use its full path", start.command)));
    }
    match start.folder {
        Some(folder) if !folder.is_dir() => {
            Err(down(format!("its folder {} doesn't exist", folder.display())))
        }
        Some(_) | None => Ok(()),
    }
}

/// The supervisor, with what it is to start: the server, or the launcher that confines it.
fn command(
    start: &Start<'_>,
    environment: &BTreeMap<String, OsString>,
    sandbox: Option<&Sandbox>,
) -> Command {
    let mut command = Command::new(&start.supervisor.program);
    command.arg(&start.supervisor.argument);
    if let Some(sandbox) = sandbox {
        command.arg(&start.supervisor.program).arg(&start.supervisor.sandbox).args(&sandbox.words);
    }
    command
        .arg(start.command)
        .args(start.arguments)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(folder) = start.folder {
        command.current_dir(folder);
    }
    command
}

/// What a server writes to its standard error, until it ends.
async fn pass_on_log(error: ChildStderr, log: Arc<ServerLog>, redactor: Redactor, _ended: DropGuard) {
    let mut lines = BufReader::new(error);
    while let Ok(Some(line)) = next_line(&mut lines, LOG_LINE_BYTES_MAX).await {
        let text = match &line {
            Line::Whole(text) => text,
            Line::TooLong { beginning, .. } => beginning,
        };
        log.line(&redactor.clean(&String::from_utf8_lossy(text)));
    }
}

/// A supervisor ends what it keeps. One that was killed cannot: its group has its number.
fn end_group(supervisor: Option<Pid>) {
    if let Some(supervisor) = supervisor {
        let _ = rustix::process::kill_process_group(supervisor, Signal::KILL);
    }
}

impl ServerProcess {
    /// Waits until the supervisor has ended, and with it the server.
    pub(crate) async fn exited(&self) {
        let _ = self.exit.clone().wait_for(Option::is_some).await;
    }

    /// It has closed its output: waits a moment for it to end by itself, and says how it did.
    pub(crate) async fn ended(&self) -> String {
        if tokio::time::timeout(EXIT_WAIT, self.exited()).await.is_err() {
            return "the server closed its stdout".to_owned();
        }
        let _ = tokio::time::timeout(LAST_WORDS_WAIT, self.log_ended.cancelled()).await;
        let status = *self.exit.borrow();
        match status.and_then(|status| status.code()) {
            Some(0) => "the server ended".to_owned(),
            Some(code) if code > 128 => format!("the server was killed by signal {}", code - 128),
            Some(code) => format!("the server exited with code {code}"),
            None => "the server was killed".to_owned(),
        }
    }

    /// Its input is closed already: waits a moment for it to end, then has it ended with all it
    /// started.
    pub(crate) async fn end(&self) {
        if tokio::time::timeout(END_GRACE, self.exited()).await.is_ok() {
            return;
        }
        // The supervisor notices that nobody reads its standard error.
        self.log.abort();
        if tokio::time::timeout(END_GRACE * 2, self.exited()).await.is_err() {
            end_group(self.supervisor);
            self.exited().await;
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.log.abort();
    }
}

/// Whether a command can be found the way the system will look for it.
fn is_there(command: &str, path: &OsString, folder: Option<&Path>) -> bool {
    if command.contains('/') {
        return folder.unwrap_or(Path::new(".")).join(command).exists();
    }
    std::env::split_paths(path).any(|folder| folder.join(command).is_file())
}

/// A line of foreign text, without its end.
pub(crate) enum Line {
    Whole(Vec<u8>),
    /// Only its beginning and end were kept.
    TooLong {
        beginning: Vec<u8>,
        end: Vec<u8>,
        bytes: usize,
    },
}

/// What is kept of a line that is too long.
const FRAGMENT_BYTES: usize = 512;

/// Reads a line of at most `bytes_max`; a longer one is read to its end, but not kept.
pub(crate) async fn next_line(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    bytes_max: usize,
) -> std::io::Result<Option<Line>> {
    let mut kept: Vec<u8> = Vec::new();
    let mut end: Vec<u8> = Vec::new();
    let mut bytes = 0;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok((bytes > 0).then(|| finish(kept, end, bytes, bytes_max)));
        }
        let (chunk, ended) = match available.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&available[..at], true),
            None => (available, false),
        };
        bytes += chunk.len();
        if bytes <= bytes_max {
            kept.extend_from_slice(chunk);
        } else {
            if kept.len() > FRAGMENT_BYTES {
                end = kept.split_off(kept.len() - FRAGMENT_BYTES);
                kept.truncate(FRAGMENT_BYTES);
                kept.shrink_to_fit();
            }
            end.extend_from_slice(chunk);
            let surplus = end.len().saturating_sub(FRAGMENT_BYTES);
            end.drain(..surplus);
        }
        let used = chunk.len() + usize::from(ended);
        reader.consume(used);
        if ended {
            return Ok(Some(finish(kept, end, bytes, bytes_max)));
        }
    }
}

fn finish(mut kept: Vec<u8>, end: Vec<u8>, bytes: usize, bytes_max: usize) -> Line {
    if bytes > bytes_max {
        return Line::TooLong { beginning: kept, end, bytes };
    }
    if kept.last() == Some(&b'\r') {
        kept.pop();
    }
    Line::Whole(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_lines_are_skipped_and_the_next_one_is_whole() {
        let text = format!("one\r\n{}{}{}\ntwo", "a".repeat(700), "b".repeat(5000), "c".repeat(700));
        let mut reader = BufReader::with_capacity(64, std::io::Cursor::new(text.into_bytes()));
        let mut found = Vec::new();
        while let Some(line) = next_line(&mut reader, 1000).await.expect("readable") {
            found.push(match line {
                Line::Whole(text) => String::from_utf8(text).expect("text"),
                Line::TooLong { beginning, end, bytes } => {
                    assert!(
                        beginning.iter().all(|byte| *byte == b'a') && end.iter().all(|byte| *byte == b'c')
                    );
                    format!("{bytes} bytes")
                }
            });
        }
        assert_eq!(found, ["one", "6400 bytes", "two"]);
    }
}
