//! `gristmill`: arguments, commands, wiring.

mod arguments;
mod audit_log;
mod closed_output;
mod cluster;
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

use std::num::NonZero;
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

/// A gateway that keeps this many cores busy with programs needs one of its own.
const CORES_PER_THREAD: usize = 4;

/// The whole of `gristmill`.
pub fn main() -> ExitCode {
    // Before anything else: as a worker this process must have one thread and no runtime.
    if let Some(code) = gristmill_worker::run_if_worker() {
        return code;
    }
    closed_output::hide_panics_of_printing();
    let arguments = Arguments::read();
    // These have a log of their own.
    let log = match &arguments.command {
        Command::Serve(_) | Command::WorkerNode(_) => None,
        _ => match gateway_log::asked_for() {
            Ok(log) => log,
            Err(failure) => return failure.report(),
        },
    };
    let cores = std::thread::available_parallelism().map_or(2, NonZero::get);
    let threads = runtime_threads(&arguments.command, cores);
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

/// How many threads our own work is spread over. A request passes through a dozen tasks: on one thread these are steps in
/// a queue, while between two each step may wake up a core that sleeps, whose caches know nothing of it. Programs run in
/// other processes and long computations on threads of their own, so a gateway needs few; one, if it has one client.
fn runtime_threads(command: &Command, cores: usize) -> usize {
    match command {
        Command::Serve(serve) if serve.listen.place().is_none() => 1,
        Command::ExampleServer(_) => 1,
        Command::Serve(_) | Command::WorkerNode(_) => (cores / CORES_PER_THREAD).max(1),
        _ => cores.max(2),
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
        Command::Add(arguments) => commands::servers::add(arguments).await,
        Command::AddJson(arguments) => commands::servers::add_json(arguments).await,
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
        Command::WorkerNode(arguments) => commands::worker_node::worker_node(arguments).await,
        Command::Cluster(arguments) => commands::cluster::cluster(arguments).await,
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn a_gateway_has_few_threads_and_one_over_stdio() {
        let check = |words: &[&str], cores, expected| {
            let arguments = Arguments::parse_from(["gristmill"].iter().chain(words));
            assert_eq!(runtime_threads(&arguments.command, cores), expected, "{words:?} on {cores}");
        };
        check(&["serve"], 1, 1);
        check(&["serve"], 64, 1);
        check(&["serve", "--http", "8770"], 1, 1);
        check(&["serve", "--http", "8770"], 7, 1);
        check(&["serve", "--http", "127.0.0.1:0"], 64, 16);
        check(&["serve", "--unix", "s"], 8, 2);
        check(&["worker-node"], 16, 4);
        check(&["example-server", "crm"], 16, 1);
        check(&["run", "p.py"], 1, 2);
        check(&["bench", "serve"], 8, 8);
    }
}
