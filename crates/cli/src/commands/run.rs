//! `gristmill run`: one program, its output live, its result last.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use gristmill_config::Surroundings;
use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::answer::{self, Answer, AnswerBudget};
use gristmill_gateway::domain::{Code, format_bytes, visible};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::FixedTools;
use gristmill_gateway::service::{Follower, LiveEvents, PlaceChoice, StartRequest};
use gristmill_gateway::session::Patience;
use gristmill_gateway::upstream::{Refresh, Upstreams};
use gristmill_gateway::{
    DataSettings, Event, ExecuteRequest, Folders, Gateway, Report, Settings, Stream, Upkeep, WorkerCommand,
    WorkspaceChoice,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::run_error::{Workspace, error_text};
use super::{Failure, Outcome};
use crate::arguments::Run;
use crate::data_store::{self, DataPlace};
use crate::terminal::Printable;
use crate::{exit_codes, own_sessions, skill_folders, upstreams};

/// No program is larger; what is piped in beyond this is a mistake.
const SCRIPT_BYTES_MAX: u64 = 1024 * 1024;

/// What the variables may be, as JSON.
const CONTEXT_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub async fn run(arguments: Run) -> Outcome {
    let request = request_from(&arguments).map_err(Failure::Usage)?;
    run_request(arguments, request).await
}

/// Runs a program, whatever the arguments say about which one.
pub async fn run_request(arguments: Run, mut request: ExecuteRequest) -> Outcome {
    let (settings, connected) = settings_for(&arguments)?;
    if let Some(path) = &arguments.workspace {
        request.workspace = WorkspaceChoice::Kept(kept_workspace(path).map_err(Failure::Usage)?);
    }
    let gateway = Gateway::build(settings).await.map_err(data_store::build_failure)?;
    data_store::print_problems(&gateway);
    let ran = run_in(&gateway, &arguments, request).await;
    gateway.shutdown().await;
    let Ran { report, answer, unshown } = ran?;
    if let Some(problem) = connected.and_then(|upstreams| upstreams.tree_problem()) {
        eprintln!("warning: the tree of tools could not be written, so imports from it fail: {problem}");
    }
    match unshown {
        None => {}
        // Whoever read our output has seen enough.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(exit_codes::of(&report)),
        Some(error) => return Err(Failure::Internal(anyhow!("standard output cannot be written: {error}"))),
    }
    let workspace = match (&arguments.workspace, &arguments.session) {
        (None, None) => Workspace::Empty,
        (Some(_), _) | (_, Some(_)) => Workspace::Chosen,
    };
    print_report(&report, answer.as_deref(), arguments.json, workspace)
}

/// A gateway for one program, and the servers that are connected to it.
fn settings_for(arguments: &Run) -> Result<(Settings, Option<Upstreams>), Failure> {
    let (configured, limits) =
        upstreams::read_with_limits(arguments.no_servers, &arguments.config, &arguments.limits)?;
    let place = DataPlace::of(configured.as_ref(), &arguments.config)?;
    // Without the database a program runs all the same, but not in a session.
    let store = match (&arguments.session, place.open_store()) {
        (_, Ok(store)) => Some(store),
        (Some(_), Err(failure)) => return Err(failure),
        (None, Err(failure)) => {
            data_store::not_recorded(failure);
            None
        }
    };
    let worker = WorkerCommand::this_executable().map_err(|error| Failure::Internal(error.into()))?;
    let mut settings = Settings::new(worker);
    settings.limits = limits;
    // One program is all there will be: no others are kept waiting behind it.
    settings.pool.waiting = 0;
    if let Some(store) = store {
        let surroundings =
            Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
        let in_session = arguments.session.is_some();
        settings.data = Some(DataSettings {
            history: Some(place.history),
            history_is_optional: true,
            results: Some(place.results),
            sessions: in_session.then(|| own_sessions::settings(configured.as_ref())),
            skills: Some(skill_folders::folders(&store, &surroundings)),
            upkeep: Upkeep::AtShutdown,
            ..DataSettings::new(store)
        });
    }
    if arguments.example_tools {
        let folders = Folders::from_environment().map_err(|error| Failure::Internal(error.into()))?;
        let tools = ExampleTools::new(&folders.cache).map_err(|error| Failure::Internal(error.into()))?;
        settings.tools = Arc::new(FixedTools(Arc::new(tools)));
    }
    let mut connected = None;
    if let Some(configured) = configured.filter(|_| !arguments.example_tools) {
        let usable = configured.usable();
        if !usable.is_empty() {
            let upstreams = configured.connect(&usable, Refresh::WhenUsed)?;
            settings.tools = Arc::new(upstreams.clone());
            connected = Some(upstreams);
        }
    }
    Ok((settings, connected))
}

/// What came of a program.
struct Ran {
    report: Arc<Report>,
    /// What a model would get, if that is wanted.
    answer: Option<Arc<Answer>>,
    /// Why not all of its output was shown.
    unshown: Option<io::Error>,
}

async fn run_in(gateway: &Gateway, arguments: &Run, request: ExecuteRequest) -> Result<Ran, Failure> {
    let budget = arguments.answer.budget();
    let mut start = StartRequest {
        answer: budget,
        budget_is_explicit: true,
        ..StartRequest::new(Caller::local(), request)
    };
    if let (Some(session), Some(sessions)) = (&arguments.session, gateway.sessions()) {
        let asked = Instant::now();
        match own_sessions::enter(sessions, session, Patience::default()).await {
            Ok(held) => start.place = PlaceChoice::Held(held),
            // Nothing is wrong with what was asked for: the report says so, as for a busy gateway.
            Err(error) if error.code() == Code::Busy => return Ok(refused(error.report(asked), budget).await),
            Err(error) => return Err(own_sessions::failure(error)),
        }
    }
    match gateway.service().start_live(start) {
        Ok((follower, events)) => {
            let is_shown = !arguments.json && budget.is_none();
            Ok(follow(follower, is_shown.then_some(events)).await)
        }
        Err(report) => Ok(refused(*report, budget).await),
    }
}

/// A program that did not run.
async fn refused(report: Report, budget: Option<AnswerBudget>) -> Ran {
    let answer = match budget {
        Some(budget) => Some(Arc::new(answer::of_report(&report, &budget, None, None).await)),
        None => None,
    };
    Ran { report: Arc::new(report), answer, unshown: None }
}

/// The end of it, and the exit code.
fn print_report(report: &Report, said: Option<&Answer>, as_json: bool, workspace: Workspace) -> Outcome {
    let printed = match (said, as_json) {
        (Some(said), true) => print_json(&said.structured),
        (Some(said), false) => print_said(said),
        (None, true) => print_json(report),
        (None, false) => print_end(report, workspace),
    };
    match printed {
        Ok(()) => Ok(exit_codes::of(report)),
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit_codes::of(report)),
        Err(error) => Err(Failure::Internal(anyhow!("standard output cannot be written: {error}"))),
    }
}

/// Shows what happens until nothing more does, if it is to be shown. Ctrl-C cancels the program, and its
/// report follows; a second one ends us at once.
async fn follow(mut follower: Follower, events: Option<LiveEvents>) -> Ran {
    let mut interrupts = Interrupts::default();
    let screen = match events {
        Some(events) => Some(show_live(&follower, events, &mut interrupts).await),
        None => None,
    };
    let report = loop {
        tokio::select! {
            report = follower.ended() => break report,
            () = interrupts.next() => follower.cancel(),
        }
    };
    let unshown = match screen {
        Some(screen) => tokio::select! {
            failed = screen.finish() => failed,
            () = interrupts.next() => None,
        },
        None => None,
    };
    Ran { report, answer: follower.progress().answer, unshown }
}

/// Shows what a program prints as it prints it. The screen may still be at it when this returns.
async fn show_live(follower: &Follower, mut events: LiveEvents, interrupts: &mut Interrupts) -> ScreenThread {
    let screen = ScreenThread::start();
    let mut unshown: Option<(Stream, Vec<u8>)> = None;
    loop {
        tokio::select! {
            event = events.next(), if unshown.is_none() => match event {
                Some(Event::Output { stream, bytes }) => unshown = Some((stream, bytes)),
                Some(Event::ServerStarting { server }) => say_starting(&server),
                Some(Event::ToolStarted { .. } | Event::ToolProgress { .. } | Event::ToolFinished(_)) => {}
                None => break,
            },
            room = screen.outputs.reserve(), if unshown.is_some() => match (room, unshown.take()) {
                (Ok(room), Some(output)) => room.send(output),
                // Nobody can see it any more.
                (Err(_), _) | (_, None) => follower.cancel(),
            },
            () = interrupts.next() => follower.cancel(),
        }
    }
    screen
}

/// Tells a person why nothing happens.
fn say_starting(server: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("starting {} …", visible(server));
    }
}

#[derive(Default)]
struct Interrupts(u32);

impl Interrupts {
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.0 += 1;
        if self.0 > 1 {
            std::process::exit(130);
        }
    }
}

/// The screen on a thread of its own: a reader that does not read must not stop the deadline.
struct ScreenThread {
    outputs: mpsc::Sender<(Stream, Vec<u8>)>,
    ended: oneshot::Receiver<Option<io::Error>>,
}

impl ScreenThread {
    fn start() -> Self {
        let (outputs, mut received) = mpsc::channel::<(Stream, Vec<u8>)>(16);
        let (told, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let mut screen = Screen { stdout: Printable::default(), stderr: Printable::default() };
            let mut failed = None;
            while let Some((stream, bytes)) = received.blocking_recv() {
                if let Err(error) = screen.write(stream, &bytes) {
                    failed = Some(error);
                    break;
                }
            }
            drop(received);
            let _ = told.send(failed);
        });
        Self { outputs, ended }
    }

    /// Waits until everything is shown; gives what went wrong.
    async fn finish(self) -> Option<io::Error> {
        drop(self.outputs);
        self.ended.await.ok().flatten()
    }
}

/// Where a program's output goes, as it comes.
struct Screen {
    stdout: Printable,
    stderr: Printable,
}

impl Screen {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let (printable, terminal) = match stream {
            Stream::Stdout => (&mut self.stdout, io::stdout().is_terminal()),
            Stream::Stderr => (&mut self.stderr, io::stderr().is_terminal()),
        };
        // A program must not drive the terminal of the person who looks at it.
        let shown = terminal.then(|| printable.take(bytes));
        let bytes = shown.as_ref().map_or(bytes, |shown| shown.as_bytes());
        match stream {
            Stream::Stdout => write_flushed(&mut io::stdout().lock(), bytes),
            Stream::Stderr => write_flushed(&mut io::stderr().lock(), bytes),
        }
    }
}

fn write_flushed(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}

/// Text of ours with a program's words in it.
fn shown(text: &str, terminal: bool) -> String {
    if terminal { Printable::all(text) } else { text.to_owned() }
}

fn print_json(document: &impl Serialize) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, document)?;
    writeln!(stdout)
}

fn print_said(said: &Answer) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", shown(&said.text, io::stdout().is_terminal()))?;
    let mut stderr = io::stderr().lock();
    for file in &said.files {
        let size = format_bytes(file.base64.len() as u64 / 4 * 3);
        writeln!(stderr, "note: an image goes along: {}, {size}", file.media_type)?;
    }
    writeln!(stderr, "note: {} tokens", said.tokens)
}

fn print_end(report: &Report, workspace: Workspace) -> io::Result<()> {
    if let Some(result) = &report.result {
        let text = match result {
            Value::String(text) => text.clone(),
            // Bytes are for --json; here it is enough to know of them.
            value => serde_json::to_string_pretty(&*answer::without_bytes(value))?,
        };
        let mut stdout = io::stdout().lock();
        if !report.stdout.is_empty() && !report.stdout.ends_with('\n') {
            writeln!(stdout)?;
        }
        writeln!(stdout, "{}", shown(&text, io::stdout().is_terminal()))?;
    }
    let mut stderr = io::stderr().lock();
    let terminal = io::stderr().is_terminal();
    if let Some(error) = &report.error {
        let mut text = String::new();
        let unfinished = |output: &str| !output.is_empty() && !output.ends_with('\n');
        if unfinished(&report.stderr) || (report.stderr.is_empty() && unfinished(&report.stdout)) {
            text.push('\n');
        }
        text.push_str(&error_text(error, workspace));
        for call in report.tools_called.iter().filter(|call| !call.ok && error.kind != "tool").take(5) {
            let why = call.error.as_deref().unwrap_or_default();
            text.push_str(&format!("note: the call of {} has no answer: {why}\n", call.name));
        }
        write!(stderr, "{}", shown(&text, terminal))?;
    } else {
        for hit in &report.limits_hit {
            writeln!(stderr, "note: the program hit a limit and went on: {}", hit.message)?;
        }
    }
    for note in report.notes.iter().chain(&report.large_result_note()) {
        writeln!(stderr, "note: {}", shown(note, terminal))?;
    }
    let made = report.session.as_ref().filter(|session| session.is_new);
    if let Some(name) = made.and_then(|session| session.name.as_deref()) {
        writeln!(stderr, "note: {}", own_sessions::new_session_words(name))?;
    }
    Ok(())
}

fn request_from(arguments: &Run) -> anyhow::Result<ExecuteRequest> {
    let code = match (&arguments.code, &arguments.script) {
        (Some(code), _) => code.clone(),
        (None, Some(path)) if path.as_os_str() == "-" => {
            if io::stdin().is_terminal() {
                eprintln!("type the program, and Ctrl-D at its end");
            }
            read_text(io::stdin().lock(), "standard input")?
        }
        (None, Some(path)) => {
            let shown = path.display();
            if path.is_dir() {
                bail!("{shown} is a folder; name a Python file, or use -c 'CODE'");
            }
            let file = std::fs::File::open(path).with_context(|| {
                format!("the program {shown} cannot be opened; name a Python file, or use -c 'CODE'")
            })?;
            read_text(file, &shown.to_string())?
        }
        (None, None) => bail!("name a program: a file, `-` for standard input, or -c 'CODE'"),
    };
    let filename = arguments.script.as_ref().filter(|path| path.as_os_str() != "-");
    let filename = filename.map(|path| path.to_string_lossy().into_owned());
    Ok(ExecuteRequest { filename, context: context_from(arguments)?, ..ExecuteRequest::python(code) })
}

fn read_text(from: impl Read, name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    from.take(SCRIPT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("{name} cannot be read"))?;
    if bytes.len() as u64 > SCRIPT_BYTES_MAX {
        bail!(
            "{name} is larger than 1 MB, the most that a program may be; pass data with --context-json or --workspace"
        );
    }
    String::from_utf8(bytes).map_err(|_| anyhow!("{name} is not UTF-8 text; save the program as UTF-8"))
}

/// The folder is made if only its last part is missing.
fn kept_workspace(path: &Path) -> anyhow::Result<std::path::PathBuf> {
    match std::fs::create_dir(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(error).with_context(|| format!("the workspace {} cannot be made", path.display()));
        }
    }
    if !path.is_dir() {
        bail!("the workspace {} is not a folder", path.display());
    }
    let real =
        path.canonicalize().with_context(|| format!("the workspace {} cannot be opened", path.display()))?;
    let whole_system =
        ["/", "/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/lib", "/boot", "/home", "/root"];
    if whole_system.iter().any(|folder| real == Path::new(folder)) {
        bail!(
            "{} is not a workspace: a program may change everything in it; name a folder of its own",
            path.display()
        );
    }
    Ok(path.to_owned())
}

fn context_from(arguments: &Run) -> anyhow::Result<Map<String, Value>> {
    let mut context = Map::new();
    if let Some(path) = &arguments.context_json {
        let shown = path.display();
        let mut text = String::new();
        let file = std::fs::File::open(path)
            .with_context(|| format!("{shown} cannot be opened; name a file with a JSON object in it"))?;
        file.take(CONTEXT_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .with_context(|| format!("{shown} cannot be read"))?;
        if text.len() as u64 > CONTEXT_BYTES_MAX {
            bail!(
                "{shown} is larger than {CONTEXT_BYTES_MAX} bytes; put large data into a --workspace folder"
            );
        }
        match serde_json::from_str(&text).with_context(|| format!("{shown} is not JSON"))? {
            Value::Object(object) => context = object,
            _ => bail!("{shown} must hold a JSON object: its keys become variables"),
        }
    }
    for setting in &arguments.context {
        let (name, value) =
            setting.split_once('=').ok_or_else(|| anyhow!("`--context {setting}` must be NAME=VALUE"))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        context.insert(name.trim().to_owned(), value);
    }
    Ok(context)
}
