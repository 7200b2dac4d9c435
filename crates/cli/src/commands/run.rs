//! `gristmill run`: one program, its output live, its result last.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use gristmill_gateway::answer::{self, Answer, AnswerBudget, Keeping};
use gristmill_gateway::domain::{Code, format_bytes};
use gristmill_gateway::executions::Owner;
use gristmill_gateway::history::Beginning;
use gristmill_gateway::results::{Origin, Results};
use gristmill_gateway::session::Patience;
use gristmill_gateway::upstream::Refresh;
use gristmill_gateway::{
    Event, ExecuteRequest, Execution, Folders, Gateway, PoolSettings, Report, Stream, WorkerCommand,
    WorkspaceChoice,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::{Failure, Outcome};
use crate::arguments::Run;
use crate::config::Surroundings;
use crate::data_store::{self, DataPlace, Recorder};
use crate::example_tools::ExampleTools;
use crate::terminal::Printable;
use crate::{engine_progress, exit_codes, own_sessions, skill_folders, upstreams};

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
    let (configured, limits) =
        upstreams::read_with_limits(arguments.no_servers, &arguments.config, &arguments.limits)?;
    let place = DataPlace::of(configured.as_ref(), &arguments.config)?;
    if let Some(path) = &arguments.workspace {
        request.workspace = WorkspaceChoice::Kept(kept_workspace(path).map_err(Failure::Usage)?);
    }
    // Without the database a program runs all the same, but not in a session.
    let (store, held) = match (&arguments.session, place.open_store()) {
        (Some(session), opened) => {
            let store = opened?;
            let sessions = own_sessions::open_with(configured.as_ref(), store.clone(), &limits)?;
            let asked = Instant::now();
            let held = match own_sessions::enter(&sessions, session, Patience::default()).await {
                Ok(held) => held,
                // Nothing is wrong with what was asked for: the report says so, as for a busy gateway.
                Err(error) if error.code() == Code::Busy => {
                    let report = error.report(asked);
                    let said = answer_for_a_model(&report, arguments.answer.budget(), None, None).await;
                    return print_report(&report, said.as_ref(), arguments.json);
                }
                Err(error) => return Err(own_sessions::failure(error)),
            };
            request.workspace = WorkspaceChoice::Kept(held.workspace());
            request.state = held.state();
            request.limits = Some(held.limits(&limits));
            (Some(store), Some(held))
        }
        (None, Ok(store)) => (Some(store), None),
        (None, Err(failure)) => {
            data_store::not_recorded(failure);
            (None, None)
        }
    };
    engine_progress::prepare().map_err(Failure::Ours)?;
    let worker = WorkerCommand::this_executable().map_err(|error| Failure::Ours(error.into()))?;
    // One program is all there will be: no others are kept waiting behind it.
    let pool = PoolSettings { waiting: 0, ..PoolSettings::default() };
    let mut builder = Gateway::builder(worker).limits(limits).pool(pool);
    if arguments.example_tools {
        let folders = Folders::from_environment().map_err(|error| Failure::Ours(error.into()))?;
        let tools = ExampleTools::new(&folders.cache).map_err(|error| Failure::Ours(error.into()))?;
        builder = builder.tools(Arc::new(tools));
    }
    // A program that imports none runs without them as well.
    let mut skills = None;
    if let Some(store) = &store {
        let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Ours(error.into()))?;
        let opened = skill_folders::with_store(store.clone(), &surroundings)?;
        builder = builder.skills(opened.clone());
        skills = Some(opened);
    }
    let mut connected = None;
    if let Some(configured) = configured.filter(|_| !arguments.example_tools) {
        let usable = configured.usable();
        if !usable.is_empty() {
            let upstreams = configured.connect(&usable, Refresh::WhenUsed)?;
            connected = Some(upstreams.clone());
            builder = builder.tool_source(Arc::new(upstreams));
        }
    }
    let gateway = builder.build().await.map_err(|error| Failure::Ours(error.into()))?;
    // While the workers come up.
    let results = match &store {
        Some(store) => data_store::open_results(store.clone(), &place).await,
        None => None,
    };
    if let Some(results) = &results {
        request.offer_results(results.clone(), &Owner::local());
    }
    let recorder = match store {
        Some(store) => Recorder::open(store, &place).await,
        None => None,
    };
    if let (Some(skills), Some(recorder)) = (&skills, &recorder) {
        skills.record_tests_in(recorder.history().clone());
    }
    let level = gateway.limits().level();
    let session = held.as_ref().map(|held| held.id().as_str());
    let beginning = recorder.as_ref().and_then(|recorder| recorder.about_to_run(&mut request, level));
    let beginning = beginning.map(|beginning| beginning.in_session(session));
    let id = beginning.as_ref().map(|beginning| beginning.id().as_str().to_owned());
    let execution = gateway.execute(request);
    let recording = beginning.map(Beginning::begin);
    let budget = arguments.answer.budget();
    let (mut report, unshown) = follow(execution, !arguments.json && budget.is_none()).await;
    gateway.shutdown().await;
    if let Some(held) = held {
        report.session = Some(held.report());
        report.notes.extend(held.note().map(str::to_owned));
        held.leave_after_program().await;
    }
    let session = report.session.as_ref().map(|session| session.id.clone()).unwrap_or_default();
    let mut said = answer_for_a_model(&report, budget, results.as_ref(), id).await;
    if let Some(recording) = recording {
        recording.end(&mut report, &session, said.as_ref().map(|said| said.tokens)).await;
        if !report.is_recorded {
            // The report has one more note now.
            said = answer_for_a_model(&report, budget, results.as_ref(), None).await;
        }
    }
    if let Some(recorder) = recorder {
        recorder.close().await;
    }
    if let Some(problem) = connected.and_then(|upstreams| upstreams.tree_problem()) {
        eprintln!("warning: the tree of tools could not be written, so imports from it fail: {problem}");
    }
    match unshown {
        None => {}
        // Whoever read our output has seen enough.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(exit_codes::of(&report)),
        Some(error) => return Err(Failure::Ours(anyhow!("standard output cannot be written: {error}"))),
    }
    print_report(&report, said.as_ref(), arguments.json)
}

/// What a model would get, if that is wanted. What it has no room for is kept as a result of `execution`.
async fn answer_for_a_model(
    report: &Report,
    budget: Option<AnswerBudget>,
    results: Option<&Results>,
    execution: Option<String>,
) -> Option<Answer> {
    let session = report.session.as_ref().map(|session| session.id.clone());
    let origin = Origin { session, execution };
    let keep = results.map(|results| Keeping { results: results.clone(), owner: Owner::local(), origin });
    Some(answer::of_report(report, &budget?, keep.as_ref(), None).await)
}

/// The end of it, and the exit code.
fn print_report(report: &Report, said: Option<&Answer>, as_json: bool) -> Outcome {
    let printed = match (said, as_json) {
        (Some(said), true) => print_json(&said.structured),
        (Some(said), false) => print_said(said),
        (None, true) => print_json(report),
        (None, false) => print_end(report),
    };
    match printed {
        Ok(()) => Ok(exit_codes::of(report)),
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit_codes::of(report)),
        Err(error) => Err(Failure::Ours(anyhow!("standard output cannot be written: {error}"))),
    }
}

/// Shows what happens until nothing more does. Ctrl-C cancels the program, and its report follows;
/// a second one ends us at once.
async fn follow(mut execution: Execution, live: bool) -> (Report, Option<io::Error>) {
    let mut screen = live.then(ScreenThread::start);
    let mut unshown: Option<(Stream, Vec<u8>)> = None;
    let mut interrupts = Interrupts::default();
    loop {
        tokio::select! {
            event = execution.next_event(), if unshown.is_none() => match event {
                Some(Event::Output { stream, bytes }) if live => unshown = Some((stream, bytes)),
                Some(Event::Output { .. } | Event::ToolStarted { .. } | Event::ToolProgress { .. } | Event::ToolFinished(_)) => {}
                None => break,
            },
            room = room_on(&screen), if unshown.is_some() => match (room, unshown.take()) {
                (Some(room), Some(output)) => room.send(output),
                // Nobody can see it any more.
                (None, _) | (_, None) => execution.cancel(),
            },
            () = interrupts.next() => execution.cancel(),
        }
    }
    let report = execution.finish().await;
    let failed = match screen.take() {
        Some(screen) => tokio::select! {
            failed = screen.finish() => failed,
            () = interrupts.next() => None,
        },
        None => None,
    };
    (report, failed)
}

async fn room_on(screen: &Option<ScreenThread>) -> Option<mpsc::Permit<'_, (Stream, Vec<u8>)>> {
    screen.as_ref()?.outputs.reserve().await.ok()
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

fn print_end(report: &Report) -> io::Result<()> {
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
        if let Some(traceback) = error.traceback.as_deref().filter(|traceback| !traceback.is_empty()) {
            text.push_str(traceback.trim_end());
            text.push('\n');
        }
        // Where there is no traceback, nothing else names the line.
        let line = match (error.line, &error.traceback) {
            (Some(line), None) => format!(" line {line}"),
            (Some(_) | None, _) => String::new(),
        };
        text.push_str(&format!("error[{}]{line}: {}\n", error.code, error.message));
        if let Some(hint) = &error.hint {
            text.push_str(&format!("hint: {hint}\n"));
        }
        for call in report.tools_called.iter().filter(|call| !call.ok && error.kind != "tool").take(5) {
            let why = call.error.as_deref().unwrap_or_default();
            text.push_str(&format!("note: the call of {} has no answer: {why}\n", call.name));
        }
        write!(stderr, "{}", shown(&text, terminal))?;
    } else {
        for hit in &report.limits_hit {
            writeln!(stderr, "note: a limit was reached and the program went on: {}", hit.message)?;
        }
    }
    for note in &report.notes {
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
    Ok(ExecuteRequest { context: context_from(arguments)?, ..ExecuteRequest::python(code) })
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
