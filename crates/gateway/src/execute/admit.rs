//! Admit: is the request possible, and is there a place for it?

use std::sync::Arc;
use std::sync::atomic::Ordering;

use gristmill_domain::{Code, Level, LimitName, Limits, visible};
use gristmill_protocol::{CODE_BYTES_MAX, CONTEXT_BYTES_MAX, EngineId, JSON_DEPTH_MAX, JsonCaps};
use tokio::sync::OwnedSemaphorePermit;

use super::{Core, Purpose, dry_run, elsewhere};
use crate::context_text::ContextText;
use crate::ids::Caller;
use crate::ports::{LargeResults, RemoteProgram, RunWhere};
use crate::report::Refusal;
use crate::request::{Capabilities, ExecuteRequest, Variables, WorkspaceChoice};
use crate::spans::say;

/// A name of a program that is longer is cut: every line of a traceback shows it.
const FILENAME_CHARS_MAX: usize = 100;

/// A request that may run.
pub(super) struct Admitted {
    pub engine: EngineId,
    pub code: String,
    /// What tracebacks call it; empty if nothing was said.
    pub filename: String,
    pub context: ContextText,
    pub limits: Limits,
    pub workspace: WorkspaceChoice,
    pub variables: Variables,
    pub capabilities: Capabilities,
    /// What its node is chosen by, if it runs on one.
    pub remote: Option<RemoteProgram>,
    /// The place among the running; given back when the execution ends.
    pub place: OwnedSemaphorePermit,
}

pub(super) async fn admit(
    core: &Core,
    request: ExecuteRequest,
    purpose: &Purpose,
) -> Result<Admitted, Refusal> {
    let request = dry_run::confine(request)?;
    let limits = request.limits.clone().unwrap_or_else(|| core.limits.clone());
    check_engine(core, request.engine, &request.capabilities.caller, limits.level())?;
    check_strictness(core, limits.level())?;
    check_token(&request.capabilities.caller, limits.level())?;
    if request.code.len() > CODE_BYTES_MAX {
        return Err(Refusal::new(
            Code::BadRequest,
            format!("the program is {} bytes long; the most is {CODE_BYTES_MAX}", request.code.len()),
            "pass data in the context or in a workspace file, not in the program's text",
        ));
    }
    let caps =
        JsonCaps { bytes_max: CONTEXT_BYTES_MAX, depth_max: JSON_DEPTH_MAX, values_max: CONTEXT_BYTES_MAX };
    caps.check(request.context.as_str().as_bytes()).map_err(|error| {
        Refusal::new(
            Code::BadRequest,
            format!("the context: {error}"),
            "put large data into a file in the workspace",
        )
    })?;
    say(|span| {
        span.record("isolation", limits.level().as_str())
            .record("context_bytes", request.context.as_str().len())
            .record("ahead", core.queued.load(Ordering::Relaxed));
    });
    let (place, remote) = match elsewhere::asked(core, &request, &limits, purpose) {
        Some((program, RunWhere::Nodes)) => (core.take_remote_place()?, Some(program)),
        Some((program, RunWhere::Here | RunWhere::Anywhere)) => {
            match Arc::clone(&core.places).try_acquire_owned() {
                Ok(place) => (place, None),
                Err(_) => (core.take_remote_place()?, Some(program)),
            }
        }
        None => match purpose {
            Purpose::Asked(_) => (core.take_place().await?, None),
            Purpose::Internal(_) => (core.take_internal_place().await?, None),
        },
    };
    // A node looks at its own walls.
    if remote.is_none() {
        check_walls(core, request.engine, limits.level()).await?;
    }
    let ExecuteRequest { engine, code, filename, context, workspace, variables, capabilities, .. } = request;
    let filename = filename.as_deref().and_then(shown_filename).unwrap_or_default();
    Ok(Admitted {
        engine,
        code,
        filename,
        context,
        limits,
        workspace,
        variables,
        capabilities,
        remote,
        place,
    })
}

/// The native engine is there if the user wants it, and for whom they want it.
fn check_engine(core: &Core, engine: EngineId, caller: &Caller, level: Level) -> Result<(), Refusal> {
    if engine != EngineId::Native {
        return Ok(());
    }
    let Some(native) = &core.native else {
        return Err(Refusal::new(
            Code::BadRequest,
            "the native engine is off; nothing ran",
            "run it with engine `wasm`, or ask the user to set `enabled = true` in [engines.native]",
        ));
    };
    match native.bars(caller, level) {
        None => Ok(()),
        Some(barred) => Err(Refusal::new(
            Code::EngineNotAllowed,
            format!("{barred}; nothing ran"),
            format!("run it with engine `wasm`, or {}", barred.remedy()),
        )),
    }
}

/// A program may be held to a stricter level than the gateway's, and to no looser one.
fn check_strictness(core: &Core, level: Level) -> Result<(), Refusal> {
    let ours = core.limits.level();
    if level >= ours {
        return Ok(());
    }
    Err(Refusal::new(
        Code::BadRequest,
        format!("this gateway runs at level {ours}; {level} is looser"),
        "ask for the same level or a stricter one, or start a gateway at that level",
    ))
}

/// A stricter level than the gateway's has to have its layers.
async fn check_walls(core: &Core, engine: EngineId, level: Level) -> Result<(), Refusal> {
    if level == core.limits.level() {
        return Ok(());
    }
    match core.pools.of(engine).lacks(level).await {
        None => Ok(()),
        Some(wall) => Err(Refusal::new(
            Code::BadRequest,
            format!("level {level} needs the sandbox layer {wall:?}, which this machine doesn't have"),
            "`gristmill doctor --level` with that level says how to get it; nothing ran",
        )),
    }
}

/// The name of a program as tracebacks show it: the last part of a path, printable and short. What looks
/// like a place inside the interpreter is no name.
fn shown_filename(given: &str) -> Option<String> {
    let name = given.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name: String = name.chars().filter(|c| is_shown(*c)).take(FILENAME_CHARS_MAX).collect();
    let name = name.trim();
    (!name.is_empty() && !name.starts_with('<')).then(|| name.to_owned())
}

fn is_shown(c: char) -> bool {
    // Neither of them shows a quote or a backslash as it is.
    !c.is_control() && visible(c.encode_utf8(&mut [0; 4])).chars().eq([c]) && !matches!(c, '"' | '\\')
}

/// A token may be for stricter levels only.
fn check_token(caller: &Caller, level: Level) -> Result<(), Refusal> {
    let needed = caller.token.as_ref().and_then(|token| token.limits.as_ref()?.level);
    let Some(needed) = needed.filter(|needed| *needed > level) else { return Ok(()) };
    Err(Refusal::new(
        Code::BadRequest,
        format!("this access token is for level {needed} only, and this program would run at {level}"),
        "ask for that level, or ask the user for another token",
    ))
}

impl Core {
    /// Waits for a place of those that are kept for programs of ours.
    async fn take_internal_place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let wait = Arc::clone(&self.internal_places).acquire_owned();
        match tokio::time::timeout(self.queue.timeout, wait).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(Refusal::new(
                Code::Busy,
                "other skills are being checked, and none finished in time",
                "try again in a moment",
            )),
        }
    }

    /// A place among those that run on nodes.
    fn take_remote_place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        Arc::clone(&self.remote_places).try_acquire_owned().map_err(|_| {
            let why = "as many programs run on nodes or wait for one as this gateway can follow; nothing ran";
            Refusal::new(Code::Busy, why, "try again in a moment")
        })
    }

    /// Waits for a place among the running executions, but never in an endless queue.
    async fn take_place(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let busy = |why: String| {
            Refusal::new(Code::Busy, why, "try again in a moment, or raise `concurrent_executions`")
        };
        let ahead = self.queued.fetch_add(1, Ordering::Relaxed);
        let _leave = Leave(&self.queued);
        if ahead >= self.queue.queued_executions {
            return Err(busy(format!(
                "{} programs are running and {ahead} are waiting, which is the most there can be",
                self.queue.concurrent_executions
            )));
        }
        let wait = Arc::clone(&self.places).acquire_owned();
        match tokio::time::timeout(self.queue.timeout, wait).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) => Err(busy("the gateway is closing".to_owned())),
            Err(_) => Err(busy(format!(
                "{} programs are running, and none finished within {} s",
                self.queue.concurrent_executions,
                self.queue.timeout.as_secs()
            ))),
        }
    }
}

struct Leave<'a>(&'a std::sync::atomic::AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The part of the limits that the worker keeps.
pub(super) fn worker_limits(
    limits: &Limits,
    cpu_ms: u64,
    bytes_used: u64,
    files_used: u64,
    large_results: Option<&Arc<dyn LargeResults>>,
) -> gristmill_protocol::ProgramLimits {
    gristmill_protocol::ProgramLimits {
        memory_bytes: limits.get(LimitName::Memory),
        cpu_ms,
        result_bytes: limits.get(LimitName::ResultBytes),
        large_result_bytes: large_results.map_or(0, |store| store.bytes_max()),
        result_depth: limits.get(LimitName::ResultDepth) as u32,
        open_files: limits.get(LimitName::OpenFiles) as u32,
        file_bytes: limits.get(LimitName::FileBytes),
        workspace_bytes: limits.get(LimitName::WorkspaceBytes),
        workspace_files: limits.get(LimitName::WorkspaceFiles),
        workspace_bytes_used: bytes_used,
        workspace_files_used: files_used,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_shown_by_the_last_part_of_its_path() {
        let long = "a".repeat(200);
        for (given, shown) in [
            ("report.py", Some("report.py")),
            ("/home/me/jobs/report.py", Some("report.py")),
            ("../../etc/passwd", Some("passwd")),
            ("żółw report.py", Some("żółw report.py")),
            ("a\n\u{1b}[31m\".py", Some("a[31m.py")),
            ("<stdlib>", None),
            ("x/", Some("x")),
            ("", None),
            ("///", None),
            (long.as_str(), Some(&long[..FILENAME_CHARS_MAX])),
        ] {
            assert_eq!(shown_filename(given).as_deref(), shown, "{given:?}");
        }
    }
}
