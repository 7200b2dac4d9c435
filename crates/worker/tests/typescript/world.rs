//! A host that answers calls from a script, and what a program came to in it.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, mpsc};

use gristmill_protocol::{
    CallKind, Completion, EngineId, FromWorker, Mount, MountAccess, PROTOCOL_VERSION, Program, ProgramLimits,
    Stream, ToWorker, Trap, WorkerLimit, recv_frame, send_frame,
};
use gristmill_testkit::TestFolder;
use gristmill_worker::direct::{DirectEngine, DirectOutcome};
use serde_json::{Value, json};

type Answer = Arc<dyn Fn(CallKind, &Value) -> Option<Result<Value, Value>> + Send + Sync>;

/// Folders, answers and limits for programs of one interpreter.
pub struct World {
    folder: TestFolder,
    answer: Answer,
    pub limits: ProgramLimits,
    context: Value,
}

/// What one program came to.
#[derive(Debug)]
pub struct Ran {
    pub outcome: Value,
    pub trap: Option<Trap>,
    pub stdout: String,
    pub stderr: String,
    /// The calls that were sent: their kinds and payloads.
    pub calls: Vec<(CallKind, Value)>,
    /// The parts of a large result, joined.
    pub large_result: String,
    pub limits_hit: Vec<WorkerLimit>,
}

impl Ran {
    pub fn result(&self) -> &Value {
        assert_eq!(self.outcome["ok"], true, "{self:#?}");
        &self.outcome["result"]
    }

    pub fn error(&self) -> &Value {
        assert_eq!(self.outcome["ok"], false, "{self:#?}");
        &self.outcome["error"]
    }

    pub fn message(&self) -> &str {
        self.error()["message"].as_str().unwrap()
    }

    pub fn hint(&self) -> &str {
        self.error()["hint"].as_str().unwrap_or_default()
    }

    pub fn notes(&self) -> Vec<&str> {
        self.outcome["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect()
    }
}

type Outcomes = Result<Vec<DirectOutcome>, String>;

/// Programs for the engine, and where to tell what came of them.
struct Job {
    programs: Vec<Program>,
    line: OwnedFd,
    folders: Vec<(Mount, OwnedFd)>,
    reply: mpsc::Sender<Outcomes>,
}

/// One engine for all tests, on a thread of its own: loading it takes longer than most of them, and the
/// guest may use more stack than a test has.
fn engine() -> mpsc::Sender<Job> {
    static ENGINE: OnceLock<Mutex<mpsc::Sender<Job>>> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| {
        let (jobs, received) = mpsc::channel::<Job>();
        let serve = move || {
            let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engines");
            let engine = DirectEngine::load(EngineId::TypeScript, &cache).unwrap();
            for job in received {
                let outcomes = engine.run_connected(&job.programs, job.line, job.folders);
                job.reply.send(outcomes).unwrap();
            }
        };
        std::thread::Builder::new().stack_size(96 << 20).spawn(serve).unwrap();
        Mutex::new(jobs)
    });
    engine.lock().unwrap().clone()
}

pub const LIMITS: ProgramLimits = ProgramLimits {
    memory_bytes: 256 << 20,
    cpu_ms: u64::MAX,
    result_bytes: 1 << 20,
    large_result_bytes: 0,
    result_depth: 50,
    open_files: 64,
    file_bytes: 10 << 20,
    workspace_bytes: 20 << 20,
    workspace_files: 1000,
    workspace_bytes_used: 0,
    workspace_files_used: 0,
};

/// As the gateway prepares a program without imports, whose columns are bytes.
pub fn prepared(body: &str) -> String {
    let head = "\"use strict\";(async () => { ";
    let first = body.lines().next().unwrap_or_default();
    let rewritten = json!([[1, first, [0, 0, 0, head.len(), 0, 1]]]);
    format!("{head}{body}\n}}) // {rewritten}")
}

impl World {
    pub fn new() -> Self {
        let folder = TestFolder::new("typescript");
        for name in ["workspace", "servers", "results"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, answer: Arc::new(|_, _| None), limits: LIMITS, context: json!({}) }
    }

    /// Answers calls; `None` leaves one without an answer.
    pub fn answers(
        mut self,
        answer: impl Fn(CallKind, &Value) -> Option<Result<Value, Value>> + Send + Sync + 'static,
    ) -> Self {
        self.answer = Arc::new(answer);
        self
    }

    pub fn context(mut self, context: Value) -> Self {
        self.context = context;
        self
    }

    pub fn file(self, path: &str, content: &str) -> Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn run(&self, body: &str) -> Ran {
        self.run_all(&[&prepared(body)], false).remove(0)
    }

    /// A program as the gateway has prepared it.
    pub fn run_script(&self, script: &str) -> Ran {
        self.run_all(&[script], false).remove(0)
    }

    /// Programs of one session that keep their variables.
    pub fn run_kept(&self, bodies: &[&str]) -> Vec<Ran> {
        let codes: Vec<String> = bodies.iter().map(|body| prepared(body)).collect();
        self.run_all(&codes.iter().map(String::as_str).collect::<Vec<_>>(), true)
    }

    fn run_all(&self, codes: &[&str], stay: bool) -> Vec<Ran> {
        let accesses = [MountAccess::ReadWrite, MountAccess::ReadOnly, MountAccess::ByName];
        let mounts: Vec<Mount> = ["workspace", "servers", "results"]
            .into_iter()
            .zip(accesses)
            .map(|(name, access)| Mount { name: name.to_owned(), access })
            .collect();
        let programs: Vec<Program> = codes
            .iter()
            .map(|code| Program {
                version: PROTOCOL_VERSION,
                engine: EngineId::TypeScript,
                code: (*code).to_owned(),
                filename: String::new(),
                context: self.context.to_string(),
                limits: self.limits,
                stay,
            })
            .collect();
        let opened = |mount: Mount| {
            let folder = open_folder(&self.path(&mount.name));
            (mount, folder)
        };
        let folders = mounts.into_iter().map(opened).collect();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let answer = Arc::clone(&self.answer);
        let host = std::thread::spawn(move || serve(&ours, &answer));
        let (reply, told) = mpsc::channel();
        engine().send(Job { programs, line: OwnedFd::from(theirs), folders, reply }).unwrap();
        let outcomes = told.recv().unwrap().unwrap();
        let mut heard = host.join().unwrap();
        let last = outcomes.len() - 1;
        outcomes
            .into_iter()
            .enumerate()
            .map(|(index, outcome)| {
                // What was heard is told with the last program.
                let heard = if index == last { std::mem::take(&mut heard) } else { Heard::default() };
                let trap = outcome.told.as_ref().err().cloned();
                let text = outcome.told.unwrap_or_else(|_| "null".to_owned());
                Ran {
                    outcome: serde_json::from_str(&text).unwrap(),
                    trap,
                    stdout: heard.stdout,
                    stderr: heard.stderr,
                    calls: heard.calls,
                    large_result: heard.large_result,
                    limits_hit: outcome.limits_hit,
                }
            })
            .collect()
    }
}

#[derive(Default)]
struct Heard {
    stdout: String,
    stderr: String,
    calls: Vec<(CallKind, Value)>,
    large_result: String,
}

/// Answers until the interpreter is gone.
fn serve(socket: &UnixStream, answer: &Answer) -> Heard {
    let mut heard = Heard::default();
    while let Ok(message) = recv_frame::<FromWorker>(socket, &mut Vec::new()) {
        match message {
            FromWorker::Output { stream: Stream::Stdout, bytes } => {
                heard.stdout.push_str(std::str::from_utf8(&bytes).unwrap());
            }
            FromWorker::Output { stream: Stream::Stderr, bytes } => {
                heard.stderr.push_str(std::str::from_utf8(&bytes).unwrap());
            }
            FromWorker::Call { id, kind: CallKind::Result, payload } => {
                heard.large_result.push_str(&payload);
                let done = Completion { id, ok: true, payload: "null".to_owned() };
                send_frame(socket, &ToWorker::Completed(done), &[]).unwrap();
            }
            FromWorker::Call { id, kind, payload } => {
                let payload: Value = serde_json::from_str(&payload).unwrap();
                let answered = answer(kind, &payload);
                heard.calls.push((kind, payload));
                if let Some(answered) = answered {
                    let ok = answered.is_ok();
                    let payload = match answered.unwrap_or_else(|error| error) {
                        // An answer with files is no JSON.
                        Value::String(text) if text.starts_with('F') => text,
                        value => value.to_string(),
                    };
                    send_frame(socket, &ToWorker::Completed(Completion { id, ok, payload }), &[]).unwrap();
                }
            }
            FromWorker::Hello { .. } | FromWorker::CancelCall { .. } | FromWorker::Done { .. } => {}
        }
    }
    heard
}

fn open_folder(path: &Path) -> OwnedFd {
    std::fs::File::open(path).unwrap().into()
}
