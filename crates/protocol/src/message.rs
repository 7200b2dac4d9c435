//! The messages themselves. Adding a variant at the end keeps old bytes readable; anything else
//! needs a new [`PROTOCOL_VERSION`].

use serde::{Deserialize, Serialize};

use crate::{CallKind, EngineId};

/// Both ends must name the same version in their first message. They are built from the same
/// binary, so a difference means a half-finished upgrade.
pub const PROTOCOL_VERSION: u32 = 7;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToZygote {
    Hello {
        /// The gateway's [`PROTOCOL_VERSION`].
        version: u32,
        /// Which engine its children run.
        engine: EngineId,
        /// Walls without which the zygote must refuse to start.
        required: Vec<Wall>,
        /// What the native engine is made of; for no other.
        native: Option<NativeStart>,
    },
    /// Fork one more child and have it wait.
    Fork,
    /// End a child that is running or waiting. For systems without pidfds.
    Kill {
        /// The number from [`FromZygote::Child`].
        id: u64,
    },
    /// Fork a child that analyzes, and have it wait. It has no interpreter.
    ForkAnalysis,
}

/// The machine's own interpreter, and what it has beside its standard library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeStart {
    /// The interpreter: an absolute path.
    pub python: String,
    /// The folder with the packages that were added, if any were.
    pub packages: Option<String>,
    /// Further folders to import from.
    pub path: Vec<String>,
    /// Modules that are imported once, before children are forked.
    pub preload: Vec<String>,
}

/// What a child is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChildKind {
    Programs,
    /// To analyze data, once.
    Analysis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromZygote {
    /// The interpreter is warm; children can be asked for.
    Ready {
        /// The zygote's [`PROTOCOL_VERSION`].
        version: u32,
        /// The engine of the hello.
        engine: EngineId,
        /// The engine and its version, for people.
        description: String,
        /// Which walls its children will stand behind.
        walls: Vec<WallStatus>,
    },
    /// It could not start. It ends after this message.
    Failed {
        /// What is wrong and what to do.
        message: String,
    },
    /// A child waits. Its socket and, where the system has them, its pidfd travel with this frame.
    Child {
        /// The zygote's number for it, never reused.
        id: u64,
        /// Its process id as the zygote sees it.
        pid: i32,
        /// What it is for.
        kind: ChildKind,
    },
    /// A child ended and was reaped.
    Exited {
        /// The number from [`FromZygote::Child`].
        id: u64,
        exit: ChildExit,
        used: ProcessUse,
    },
    /// The fork that was asked for could not be made; the next one may.
    ForkFailed {
        /// What it would have been for.
        kind: ChildKind,
        message: String,
    },
}

/// How a child's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChildExit {
    /// By itself, with this code.
    Code(i32),
    Signal(i32),
}

/// What a process used in its whole life, as the kernel counted it when it was reaped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// User and system time together.
    pub cpu_us: u64,
    /// The most that it had in memory at once, shared pages included.
    pub resident_peak_bytes: u64,
}

/// One barrier between a program and the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Wall {
    /// The program is WebAssembly: it has no instruction that reaches outside its memory.
    Wasm,
    /// Each program has a process of its own, used once; or its session has, used by nobody else.
    Process,
    /// The kernel refuses every file outside the program's folders.
    Landlock,
    /// The kernel refuses every system call that is not on the list.
    Seccomp,
    /// No new privileges can be gained by any exec.
    NoNewPrivileges,
    /// An own user namespace, without any capability.
    UserNamespace,
    /// An own network namespace, with no interface up.
    NetworkNamespace,
    /// An own, empty, read-only root.
    MountNamespace,
    /// An own process tree: nothing outside can be seen or signalled.
    PidNamespace,
    /// Hard limits on memory, CPU, files and processes.
    Rlimits,
}

/// Whether a wall stands, found out by raising it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallStatus {
    pub wall: Wall,
    pub state: WallState,
    /// What was found: a version, or why it does not stand.
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WallState {
    /// Every child stands behind it.
    Stands,
    /// This machine or kernel refuses it.
    Unavailable,
    /// The platform has no such thing.
    NotOnThisPlatform,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Where the programs will work: the first message to a child, which walls itself in while its first program is
    /// still looked at. One descriptor for each mount travels with it.
    Confine(Box<Confinement>),
    /// What to run. A child that was told to stay gets further ones, each after its [`FromWorker::Done`].
    Run(Box<Program>),
    /// A call has its answer.
    Completed(Completion),
    /// What to analyze: the one message to a child that analyzes. One descriptor travels with it for
    /// each input that is not inline, in their order, then the one of the output.
    Analyze(Box<AnalysisJob>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalysisJob {
    /// The gateway's [`PROTOCOL_VERSION`].
    pub version: u32,
    /// What is to be done, as JSON in the engine's own terms.
    pub request: String,
    /// The data first, then what it is joined with.
    pub inputs: Vec<JobInput>,
    /// The limits that the worker itself keeps.
    pub limits: AnalysisLimits,
}

/// One input of an [`AnalysisJob`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobInput {
    /// What the steps call it.
    pub name: String,
    /// How it is written; `None` if its content is to tell.
    pub format: Option<DataFormat>,
    /// The data itself; `None` if it is in a file that travels with the job.
    pub inline: Option<String>,
}

/// How data is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataFormat {
    Json,
    /// A JSON text on each line.
    JsonLines,
    /// Rows of text, with a line of names first.
    Csv,
    Parquet,
}

/// The limits that a worker keeps in an analysis. The gateway keeps the wall time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalysisLimits {
    /// Private memory beyond what every worker begins with.
    pub memory_bytes: u64,
    /// CPU time, user and system together.
    pub cpu_ms: u64,
    pub output_bytes: u64,
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The worker's number for the call.
    pub id: u64,
    /// Whether `payload` is the value or the error.
    pub ok: bool,
    /// JSON.
    pub payload: String,
}

/// A program and everything it is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The gateway's [`PROTOCOL_VERSION`].
    pub version: u32,
    /// The engine that it is written for. A child with another one refuses it.
    pub engine: EngineId,
    pub code: String,
    /// What tracebacks call it; empty for the engine's own choice.
    pub filename: String,
    /// The variables injected into it: a JSON object.
    pub context: String,
    /// For the first program, those that its child was confined with.
    pub limits: ProgramLimits,
    /// Whether the child stays when it is done, for the next program of the same session, which
    /// finds the variables of this one.
    pub stay: bool,
}

/// What a child has for its whole life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The gateway's [`PROTOCOL_VERSION`].
    pub version: u32,
    /// Those of the first program; a further one brings its own.
    pub limits: ProgramLimits,
    /// Its folders, in the order of the descriptors that travel with it.
    pub mounts: Vec<Mount>,
}

/// A folder that the program sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Its name under `/`: `workspace`, `tmp`, `servers`, `skills`, `packages`, `results`.
    pub name: String,
    /// What may be done in it.
    pub access: MountAccess,
}

/// What may be done in a [`Mount`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MountAccess {
    /// Look, and nothing else.
    ReadOnly,
    /// Everything that a folder is for; counted against the workspace's limits.
    ReadWrite,
    /// Read a file whose exact name is known, and nothing else: the folder cannot be listed.
    ByName,
}

/// The limits that the worker itself keeps. The gateway keeps the others (wall time, output,
/// calls), and checks these again where it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramLimits {
    /// The engine's whole memory.
    pub memory_bytes: u64,
    /// CPU time, user and system together.
    pub cpu_ms: u64,
    /// The result, encoded as JSON.
    pub result_bytes: u64,
    /// A larger result is handed over in parts ([`CallKind::Result`]) up to this size; 0 if nobody takes it.
    pub large_result_bytes: u64,
    /// Nesting of the result.
    pub result_depth: u32,
    /// Files and folders open at once.
    pub open_files: u32,
    pub file_bytes: u64,
    /// All files of the writable mounts together.
    pub workspace_bytes: u64,
    /// Files and folders in the writable mounts.
    pub workspace_files: u64,
    /// What the writable mounts held before this program, in bytes.
    pub workspace_bytes_used: u64,
    /// What the writable mounts held before this program, in entries.
    pub workspace_files_used: u64,
}

impl ProgramLimits {
    /// No limit on memory and time, and no files: for programs of our own.
    pub const TRUSTED: Self = Self {
        memory_bytes: u64::MAX,
        cpu_ms: u64::MAX,
        result_bytes: 1 << 20,
        large_result_bytes: 0,
        result_depth: 64,
        open_files: 0,
        file_bytes: 0,
        workspace_bytes: 0,
        workspace_files: 0,
        workspace_bytes_used: 0,
        workspace_files_used: 0,
    };
}

/// Which stream a piece of output belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromWorker {
    /// The child is warm and waits; sent once, before anything else.
    Hello {
        /// The child's [`PROTOCOL_VERSION`].
        version: u32,
        /// CPU time that it has used so far: no program's.
        cpu_us: u64,
    },
    /// The program wrote something.
    Output {
        stream: Stream,
        /// What, as it was written.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// The program wants something from outside.
    Call {
        /// The worker's number for it.
        id: u64,
        /// What kind of thing.
        kind: CallKind,
        /// JSON.
        payload: String,
    },
    /// The program no longer wants it.
    CancelCall {
        /// The number from [`FromWorker::Call`].
        id: u64,
    },
    /// The program ended; the last message until there is another program.
    Done { outcome: Outcome, stats: RunStats },
}

/// How a program ended, in the engine's view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The program ended, with a value or an error: JSON, as described in the guest's README.
    Returned(String),
    /// The interpreter was lost.
    Trapped(Trap),
    /// The worker could not begin: a wall that was promised did not rise. Nothing ran.
    Refused(String),
}

/// The end of an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trap {
    pub kind: TrapKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TrapKind {
    /// The stack ran out.
    StackOverflow,
    /// The program ended the interpreter (`os._exit`).
    Exit,
    /// The interpreter aborted, or ran into an instruction that cannot be.
    Crash,
}

/// A limit that the worker keeps. A closed list: it takes no more memory than bytes on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WorkerLimit {
    Memory,
    /// Files and folders open at once.
    OpenFiles,
    FileBytes,
    WorkspaceBytes,
    WorkspaceFiles,
}

/// What a program used. Told by the worker, so for information only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStats {
    /// Largest size of the engine's memory.
    pub memory_peak_bytes: u64,
    /// CPU time of the run.
    pub cpu_us: u64,
    /// The worker's limits that refused something, each once.
    pub limits_hit: Vec<WorkerLimit>,
    /// Bytes in the writable mounts at the end.
    pub workspace_bytes_used: u64,
    /// Entries in the writable mounts at the end.
    pub workspace_files_used: u64,
}
