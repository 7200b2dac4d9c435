//! Prepare: open the folders, measure the workspace, write the program's frame.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_checks::typescript::{self, TopLevel};
use gristmill_domain::{Code, CpuShare, LimitName, Limits, PERCENT_OF_CORE};
use gristmill_protocol::{
    Confinement, EngineId, Mount, MountAccess, PROTOCOL_VERSION, Program, ProgramLimits, ToWorker,
    encode_frame,
};
use rustix::fs::{Mode, OFlags};
use tokio::sync::OwnedSemaphorePermit;

use super::admit::{Admitted, worker_limits};
use super::elsewhere::{Elsewhere, named_results};
use super::refused::{AT_ONCE_BYTES_MAX, syntax_refusal};
use super::{Belongings, Core, Given, Interpreter, Lease, Purpose, dry_run};
use crate::folder_size::{FolderSize, measure};
use crate::ids::Caller;
use crate::language::skill_language;
use crate::pool::{Lost, Room, is_empty};
use crate::ports::{Needed, Writes};
use crate::report::Refusal;
use crate::request::{Capabilities, LatestVariables, Leftovers, Variables, WorkspaceChoice};
use crate::skills::{MayChange, ProgramSkills};
use crate::spans::say;

/// A program that only needs a worker.
pub(super) struct Prepared {
    /// The program's message to the worker, as bytes.
    pub frame: Vec<u8>,
    pub engine: EngineId,
    /// The program that is in it as its author wrote it, and its name.
    pub code: String,
    pub filename: String,
    pub checked_for: CheckedFor,
    pub limits: Limits,
    pub cpu: CpuRule,
    /// What was saved, as it is now.
    pub skills: Arc<ProgramSkills>,
    pub capabilities: Capabilities,
    pub home: Home,
    /// Its session's interpreter, or the place for one, if its variables are kept.
    pub lease: Option<Lease>,
    /// What goes to its node, if it runs on one.
    pub elsewhere: Option<Elsewhere>,
    /// Who takes the throw-away workspace if anything is left in it.
    pub leftovers: Option<Leftovers>,
    pub place: OwnedSemaphorePermit,
}

/// How a program is held to the CPU that it may use.
#[derive(Clone, Copy)]
pub(super) struct CpuRule {
    /// The part of a core that the kernel gives it.
    pub percent: u64,
    /// What ends it, should it use more time than that.
    pub ended_by: LimitName,
    pub ends_after_ms: u64,
}

impl CpuRule {
    /// Slowed down where that can be had, which is asked only if it's wanted; or else counted.
    async fn of(core: &Core, engine: EngineId, limits: &Limits, is_remote: bool) -> Self {
        let percent = limits.get(LimitName::CpuPercent);
        let may_be_slowed = percent < PERCENT_OF_CORE && !is_remote;
        let is_slowed = may_be_slowed && core.pools.of(engine).slows().await.is_ok();
        let (share, percent) = match is_slowed {
            true => (CpuShare::Slowed, percent),
            false => (CpuShare::Counted, PERCENT_OF_CORE),
        };
        let (ended_by, ends_after_ms) = limits.cpu_end(share);
        Self { percent, ended_by, ends_after_ms }
    }
}

/// Whose program it is, as far as checks go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckedFor {
    Caller,
    /// A program of ours is not checked.
    Nobody,
}

/// Where it will run.
pub(super) enum Home {
    /// In a new interpreter, with these.
    New(Box<NewHome>),
    /// In the one that its lease has.
    Kept,
    /// In this one: new, and behind its walls or about to be; or the session's.
    Taken(Box<TakenHome>),
}

impl Home {
    pub fn belongings(&self) -> Option<&Belongings> {
        match self {
            Home::New(home) => Some(&home.belongings),
            Home::Kept => None,
            Home::Taken(home) => Some(&home.interpreter.belongings),
        }
    }
}

/// What a worker will be confined to.
pub(super) struct NewHome {
    pub belongings: Belongings,
    /// The message that says so, as bytes; its folders go with it.
    pub frame: Vec<u8>,
}

pub(super) struct TakenHome {
    pub interpreter: Interpreter,
    /// Whether an earlier program left it.
    pub found: bool,
}

/// A workspace that exists, and what it holds.
struct Opened {
    folder: OwnedFd,
    used: Used,
}

#[derive(Clone, Copy, Default)]
struct Used {
    bytes: u64,
    files: u64,
}

pub(super) async fn prepare(
    core: &Core,
    mut admitted: Admitted,
    purpose: Purpose,
) -> Result<Prepared, Refusal> {
    let checked_for = match &purpose {
        Purpose::Asked(_) => CheckedFor::Caller,
        Purpose::Internal(_) => CheckedFor::Nobody,
    };
    let program = (admitted.code.as_str(), &admitted.capabilities);
    let skills = program_skills(core, program, purpose).await;
    let skills = Arc::new(skills.in_language(skill_language(admitted.engine)));
    let mut lease = match &admitted.variables {
        Variables::Forget => None,
        Variables::Keep { session, latest } => {
            let mut lease = core.lease(session, admitted.engine);
            give_up_outdated(&mut lease, *latest);
            Some(lease)
        }
    };
    let comes_back = !matches!(admitted.workspace, WorkspaceChoice::ThrowAway);
    let kept_at = match &admitted.workspace {
        WorkspaceChoice::Kept(path) if admitted.remote.is_some() => Some(path.clone()),
        WorkspaceChoice::Kept(_) | WorkspaceChoice::KeptIfUsed(_) | WorkspaceChoice::ThrowAway => None,
    };
    let (opened, leftovers) = match std::mem::replace(&mut admitted.workspace, WorkspaceChoice::ThrowAway) {
        WorkspaceChoice::ThrowAway => (None, None),
        WorkspaceChoice::KeptIfUsed(leftovers) => (None, Some(leftovers)),
        WorkspaceChoice::Kept(path) => (Some(open_kept(path).await?), None),
    };
    if let Some(lease) = &mut lease
        && lease.kept().is_some_and(|kept| !is_mounted(opened.as_ref(), &kept.belongings))
    {
        lease.give_up(Lost::OtherWorkspace);
    }
    let (new, used) = match lease.as_ref().and_then(Lease::kept) {
        Some(kept) => (None, used_with(opened, &kept.belongings).await?),
        None => {
            let used = opened.as_ref().map(|opened| opened.used).unwrap_or_default();
            let results = admitted.capabilities.results_folder.as_deref();
            let caller = Some(&admitted.capabilities.caller);
            let tools = core.tools.freeze(caller, Needed::ByProgram(&admitted.code)).await;
            dry_run::check_tools(&admitted.capabilities.writes, tools.as_ref())?;
            let given = Given { engine: admitted.engine, tools, skills: skills.frozen().clone() };
            let (belongings, mounts) = belongings(core, opened, given, results)?;
            (Some((belongings, mounts)), used)
        }
    };
    let stay = lease.as_ref().is_some_and(|lease| lease.room() == Room::Yes);
    let script = script_of(&admitted, stay).await?;
    let cpu = CpuRule::of(core, admitted.engine, &admitted.limits, admitted.remote.is_some()).await;
    let limits = worker_limits(
        &admitted.limits,
        cpu.ends_after_ms,
        used.bytes,
        used.files,
        admitted.capabilities.large_results.as_ref(),
    );
    let mut elsewhere = None;
    let home = match new {
        Some((belongings, mounts)) => {
            let confinement = Confinement { version: PROTOCOL_VERSION, limits, mounts };
            elsewhere = admitted.remote.take().map(|program| Elsewhere {
                program,
                confinement: confinement.clone(),
                results: named_results(&admitted.code, &admitted.context),
                workspace: kept_at,
                workspace_comes_back: comes_back,
            });
            let frame = encoded(&ToWorker::Confine(Box::new(confinement)))?;
            Home::New(Box::new(NewHome { belongings, frame }))
        }
        None => Home::Kept,
    };
    let frame = frame_of(&admitted, script, limits, stay)?;
    say(|span| {
        let belongings = home.belongings();
        let lookup = belongings.and_then(|belongings| belongings.given.tools.lookup());
        let tools = lookup.map(|lookup| lookup.catalogue().tool_count());
        if let Some(tools) = tools {
            span.record("tools", tools);
        }
        span.record("workspace_bytes", used.bytes).record("frame_bytes", frame.len());
    });
    let Admitted { engine, code, filename, limits, capabilities, place, .. } = admitted;
    Ok(Prepared {
        frame,
        engine,
        code,
        filename,
        checked_for,
        limits,
        cpu,
        skills,
        capabilities,
        home,
        lease,
        elsewhere,
        leftovers,
        place,
    })
}

/// The program as its engine takes it: Python as it is, TypeScript as JavaScript.
async fn script_of(admitted: &Admitted, stay: bool) -> Result<String, Refusal> {
    let code = admitted.code.clone();
    let top_level = if stay { TopLevel::Keep } else { TopLevel::Forget };
    let made = match admitted.engine {
        EngineId::Python | EngineId::Native => return Ok(code),
        EngineId::TypeScript if code.len() <= AT_ONCE_BYTES_MAX => typescript::prepare(&code, top_level),
        EngineId::TypeScript => {
            let work = tokio::task::spawn_blocking(move || typescript::prepare(&code, top_level));
            work.await.map_err(|error| {
                let message = format!("the program couldn't be made JavaScript: {error}");
                Refusal::new(Code::WorkerUnavailable, message, "run it again")
            })?
        }
    };
    made.map_err(|finding| syntax_refusal(&finding, admitted))
}

/// The message to the worker.
fn frame_of(
    admitted: &Admitted,
    script: String,
    limits: ProgramLimits,
    stay: bool,
) -> Result<Vec<u8>, Refusal> {
    let program = Program {
        version: PROTOCOL_VERSION,
        engine: admitted.engine,
        code: script,
        filename: admitted.filename.clone(),
        context: admitted.context.as_str().to_owned(),
        limits,
        stay,
    };
    encoded(&ToWorker::Run(Box::new(program)))
}

fn encoded(message: &ToWorker) -> Result<Vec<u8>, Refusal> {
    encode_frame(message).map_err(|error| {
        Refusal::new(Code::BadRequest, error.to_string(), "make the program or its context smaller")
    })
}

/// What was saved, as the program finds it, and whether it may change that.
async fn program_skills(
    core: &Core,
    (code, capabilities): (&str, &Capabilities),
    purpose: Purpose,
) -> ProgramSkills {
    match (purpose, &core.skills) {
        (Purpose::Asked(sandbox), Some(skills)) => {
            let may_change = match &capabilities.changes_skills_as {
                _ if !matches!(capabilities.writes, Writes::Sent) => MayChange::NotInDryRun,
                Some(owner) => {
                    let caller = Caller { owner: owner.clone(), ..capabilities.caller.clone() };
                    MayChange::As(Box::new(caller), skills.with_sandbox(sandbox))
                }
                None => MayChange::NotThisCaller,
            };
            let reader = &capabilities.caller;
            let frozen = skills.freeze_for(reader, code).await;
            ProgramSkills::new(may_change, frozen).read_by(reader.clone(), skills.clone())
        }
        (Purpose::Asked(_), None) => ProgramSkills::default(),
        (Purpose::Internal(frozen), _) => ProgramSkills::new(MayChange::Nobody, frozen),
    }
}

/// Ends an interpreter whose variables are not the session's latest, and says where those went.
fn give_up_outdated(lease: &mut Lease, latest: LatestVariables) {
    match latest {
        LatestVariables::Here => {}
        // What another gateway lost, it told.
        LatestVariables::Nowhere => lease.give_up(Lost::Outdated),
        LatestVariables::Elsewhere if lease.kept().is_some() => lease.give_up(Lost::Outdated),
        LatestVariables::Elsewhere => lease.lack(Lost::Elsewhere),
        LatestVariables::Reset => lease.lack(Lost::Reset),
    }
}

/// Whether an interpreter has this workspace and no other.
fn is_mounted(opened: Option<&Opened>, belongings: &Belongings) -> bool {
    let folder = opened.map_or(&belongings.scratch.workspace, |opened| &opened.folder);
    let number = |folder: &OwnedFd| rustix::fs::fstat(folder).ok().map(|stat| (stat.st_dev, stat.st_ino));
    let mounted = belongings.folders.first().and_then(number);
    mounted.is_some() && mounted == number(folder)
}

/// What an interpreter's folders hold: its workspace, and the `/tmp` that stayed with it.
async fn used_with(opened: Option<Opened>, belongings: &Belongings) -> Result<Used, Refusal> {
    let own = opened.is_none().then_some(&belongings.scratch.workspace);
    let before = opened.as_ref().map(|opened| opened.used).unwrap_or_default();
    // Mostly there is nothing, and that is seen at once.
    let filled =
        [Some(&belongings.scratch.tmp), own].into_iter().flatten().filter(|folder| !is_empty(folder));
    let folders: Vec<_> = filled.map(OwnedFd::try_clone).collect();
    if folders.is_empty() {
        return Ok(before);
    }
    let measured = tokio::task::spawn_blocking(move || {
        let mut found = FolderSize { bytes: before.bytes, entries: before.files };
        for folder in folders {
            measure(&folder?, &mut found)?;
        }
        Ok::<_, std::io::Error>(Used { bytes: found.bytes, files: found.entries })
    });
    let outcome = measured.await.map_err(|error| std::io::Error::other(error.to_string()));
    outcome.and_then(|inner| inner).map_err(|error| {
        Refusal::new(
            Code::Workspace,
            format!("can't measure the session's folders: {error}; nothing ran"),
            "remove folders that are nested too deep, or end the session",
        )
    })
}

/// What a new interpreter is given.
fn belongings(
    core: &Core,
    opened: Option<Opened>,
    given: Given,
    results: Option<&Path>,
) -> Result<(Belongings, Vec<Mount>), Refusal> {
    let failed = |error: std::io::Error| {
        Refusal::new(
            Code::WorkerUnavailable,
            format!("can't create a scratch folder: {error}"),
            "free some disk space, or set GRISTMILL_SCRATCH_DIR to a folder with room",
        )
    };
    let scratch = core.take_scratch().map_err(failed)?;
    let tmp = scratch.tmp.try_clone().map_err(failed)?;
    let workspace = match opened {
        None => scratch.workspace.try_clone().map_err(failed)?,
        Some(opened) => opened.folder,
    };
    let mount = |name: &str, access| Mount { name: name.to_owned(), access };
    let mut mounts = vec![mount("workspace", MountAccess::ReadWrite), mount("tmp", MountAccess::ReadWrite)];
    let mut folders = vec![workspace, tmp];
    if let Some(tree) = given.tools.tree() {
        mounts.push(mount("servers", MountAccess::ReadOnly));
        let opened = crate::pool::open_folder(tree).map_err(|error| {
            Refusal::new(
                Code::WorkerUnavailable,
                format!("can't open the tree of tools at {}: {error}", tree.display()),
                "restart gristmill to write it again",
            )
        })?;
        folders.push(opened);
    }
    // A tree that went missing costs the imports from it, and nothing else.
    if let Some(Ok(opened)) = given.skills.folder().map(crate::pool::open_folder) {
        mounts.push(mount("skills", MountAccess::ReadOnly));
        folders.push(opened);
    }
    // In the same way: whoever imports from there is told what is missing.
    let packages = core.wasm_packages.as_ref().filter(|_| given.engine == EngineId::Python);
    if let Some(Ok(opened)) = packages.map(|packages| crate::pool::open_folder(&packages.folder)) {
        mounts.push(mount("packages", MountAccess::ReadOnly));
        folders.push(opened);
    }
    // In the same way: a program runs without the results of earlier ones.
    if let Some(Ok(opened)) = results.map(open_unlisted) {
        mounts.push(mount("results", MountAccess::ByName));
        folders.push(opened);
    }
    Ok((Belongings { given, folders, scratch }, mounts))
}

/// A folder as a starting point for names, which the descriptor itself cannot list.
#[cfg(target_os = "linux")]
fn open_unlisted(path: &Path) -> std::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

#[cfg(not(target_os = "linux"))]
fn open_unlisted(path: &Path) -> std::io::Result<OwnedFd> {
    crate::pool::open_folder(path)
}

async fn open_kept(path: PathBuf) -> Result<Opened, Refusal> {
    let shown = path.display().to_string();
    let opened = tokio::task::spawn_blocking(move || {
        let folder = crate::pool::open_folder(&path)?;
        let mut found = FolderSize::default();
        measure(&folder, &mut found)?;
        Ok::<_, std::io::Error>(Opened { folder, used: Used { bytes: found.bytes, files: found.entries } })
    });
    let outcome =
        opened.await.map_err(|error| std::io::Error::other(error.to_string())).and_then(|inner| inner);
    outcome.map_err(|error| {
        Refusal::new(
            Code::Workspace,
            format!("can't use the workspace {shown}: {error}"),
            "use an existing folder that you can read all of",
        )
    })
}
