//! `gristmill`: arguments, commands, wiring.

mod arguments;
mod audit_log;
mod closed_output;
mod color;
mod command_groups;
mod command_line;
mod commands;
mod data_store;
mod exit_codes;
mod failure;
mod gateway_log;
mod given_json;
mod guides;
mod hints;
mod id_prefix;
mod local_time;
mod log_reader;
mod markdown;
mod models;
mod native_engine;
mod own_sessions;
mod pager;
mod privacy;
mod python_environment;
mod skill_folders;
mod spinner;
mod table;
mod terminal;
mod trace_export;
mod type_checker;
mod upstreams;
mod watching;

use std::process::ExitCode;
use std::time::Duration;

use command_line::{Arguments, Command};

/// What the reference is made from.
#[doc(hidden)]
pub use command_groups::GROUPS;
#[doc(hidden)]
pub use command_line::command;

/// What still runs when a command is over has this long to end.
const LAST_WAIT: Duration = Duration::from_millis(500);

/// The whole of `gristmill`.
pub fn main() -> ExitCode {
    // Before anything else: as a worker this process must have one thread and no runtime.
    if let Some(code) = gristmill_worker::run_if_worker() {
        return code;
    }
    closed_output::hide_panics_of_printing();
    let arguments = Arguments::read();
    // `serve` has a log of its own.
    let log = match &arguments.command {
        Command::Serve(_) => None,
        _ => match gateway_log::asked_for() {
            Ok(log) => log,
            Err(failure) => return failure.report(),
        },
    };
    let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let runtime =
        match tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                eprintln!("error: can't start the async runtime: {error}");
                return exit_codes::internal();
            }
        };
    // On a thread of the runtime, as requests of a server are: from outside, every step would
    // have to wake another thread.
    let outcome = runtime.block_on(runtime.spawn(carry_out(arguments.command)));
    // A read of standard input that has begun ends when the other side writes or hangs up: who was
    // told to stop must not wait for that.
    runtime.shutdown_timeout(LAST_WAIT);
    drop(log);
    match outcome {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => failure.report(),
        Err(failed) => closed_output::exit_code_after(failed),
    }
}

async fn carry_out(command: Command) -> failure::Outcome {
    match command {
        Command::Run(run) => commands::run::run(run).await,
        Command::Ask(arguments) => commands::ask::ask(arguments).await,
        Command::Check(arguments) => commands::check::check(arguments).await,
        Command::Analyze(arguments) => commands::analyze::analyze(arguments).await,
        Command::History(arguments) => commands::history::history(arguments).await,
        Command::Show(arguments) => commands::show::show(arguments).await,
        Command::Rerun(arguments) => commands::rerun::rerun(arguments).await,
        Command::Stats(arguments) => commands::stats::stats(arguments).await,
        Command::Anomalies(arguments) => commands::anomalies::anomalies(arguments).await,
        Command::Alerts(arguments) => commands::alerts::alerts(arguments).await,
        Command::Audit(arguments) => commands::audit::audit(arguments).await,
        Command::Backup(arguments) => commands::backup::backup(arguments).await,
        Command::Restore(arguments) => commands::restore::restore(&arguments),
        Command::Db(arguments) => commands::db::db(arguments).await,
        Command::Demo(demo) => commands::demo::demo(demo).await,
        Command::Doctor(doctor) => commands::doctor::doctor(doctor).await,
        Command::Setup(setup) => commands::setup::setup(setup),
        Command::Shape(arguments) => commands::shape::shape(arguments),
        Command::Privacy(arguments) => commands::privacy::privacy(arguments).await,
        Command::Bench(bench) => commands::bench::bench(bench).await,
        Command::Serve(serve) => commands::serve::serve(serve).await,
        Command::Add(arguments) => commands::servers::add(arguments),
        Command::AddJson(arguments) => commands::servers::add_json(arguments),
        Command::List(arguments) => commands::list::list(arguments).await,
        Command::Get(arguments) => commands::servers::get(arguments),
        Command::Remove(arguments) => commands::servers::remove(arguments),
        Command::Init(arguments) => commands::init::init(&arguments),
        Command::Import(arguments) => commands::import::import(arguments),
        Command::Connect(arguments) => commands::connect::connect(arguments),
        Command::Disconnect(arguments) => commands::disconnect::disconnect(arguments),
        Command::Login(arguments) => commands::login::login(arguments).await,
        Command::Logout(arguments) => commands::login::logout(arguments).await,
        Command::Tools(arguments) => commands::tools::tools(arguments).await,
        Command::Sessions(arguments) => commands::sessions::sessions(arguments).await,
        Command::Results(arguments) => commands::results::results(arguments).await,
        Command::Workspace(arguments) => commands::workspace::workspace(arguments).await,
        Command::Python(arguments) => commands::python::python(arguments).await,
        Command::Skills(arguments) => commands::skills::skills(arguments).await,
        Command::Token(arguments) => commands::token::token(arguments),
        Command::Policy(arguments) => commands::policy::policy(arguments).await,
        Command::Approvals(arguments) => commands::approvals::approvals(arguments).await,
        Command::Logs(arguments) => commands::logs::logs(arguments).await,
        Command::Dashboard(arguments) => commands::dashboard::dashboard(arguments).await,
        Command::Config(arguments) => commands::config::config(arguments),
        Command::Explain(arguments) => commands::explain::explain(arguments),
        Command::Help(arguments) => commands::help::help(&arguments, command_line::command()),
        Command::Levels(arguments) => commands::levels::levels(&arguments),
        Command::Cache(arguments) => commands::cache::cache(arguments),
        Command::Completions(arguments) => {
            commands::completions::completions(&arguments, command_line::command())
        }
        Command::Man(arguments) => commands::man::man(arguments, command_line::command()),
        Command::ExampleServer(server) => commands::example_server::example_server(server).await,
    }
}
