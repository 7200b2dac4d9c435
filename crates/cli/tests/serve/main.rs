//! `gristmill serve` as its clients see it: the real binary over its pipes and over HTTP, in both eras of
//! the protocol, with servers behind it that do as they are told. This binary is also that server.
//!
//! Every structured answer of every case is held against the schema that the tool promises.
#![cfg(target_os = "linux")]

mod analysis;
mod approvals;
mod client;
mod dashboard;
mod dry_runs;
mod ending;
mod entering;
mod finding;
mod flow;
mod following;
mod gateways;
mod generating;
mod guides;
mod http;
mod http_exchange;
mod listing;
mod logging;
mod metrics;
mod native_engine;
mod native_tables;
mod programs;
mod questions;
mod recording;
mod results;
mod search_tokens;
mod skills;
mod standing;
mod tasks;
mod traces;
mod watching;
mod webhooks;
mod workspace;

#[path = "../../../mcp/tests/support/scripted_readables.rs"]
mod scripted_readables;
#[path = "../../../mcp/tests/support/scripted_server.rs"]
#[expect(dead_code, reason = "the binary keeps its servers itself")]
mod scripted_server;
#[path = "../support/mod.rs"]
mod support;

use libtest_mimic::{Arguments, Trial};

/// Its name, and what it does.
type Case = (&'static str, fn());

/// The cases of a module, each a function whose name says what is expected.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub fn cases() -> Vec<$crate::Case> {
            vec![$((concat!(module_path!(), "::", stringify!($name)), $name as fn())),*]
        }
    };
}
pub(crate) use cases;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "scripted-server") {
        scripted_server::run(&arguments[2..]);
    }
    let cases = [
        listing::cases(),
        standing::cases(),
        guides::cases(),
        programs::cases(),
        finding::cases(),
        search_tokens::cases(),
        following::cases(),
        tasks::cases(),
        questions::cases(),
        webhooks::cases(),
        approvals::cases(),
        flow::cases(),
        dry_runs::cases(),
        generating::cases(),
        skills::cases(),
        ending::cases(),
        recording::cases(),
        http::cases(),
        dashboard::cases(),
        entering::cases(),
        workspace::cases(),
        results::cases(),
        analysis::cases(),
        native_engine::cases(),
        native_tables::cases(),
        metrics::cases(),
        watching::cases(),
        logging::cases(),
        traces::cases(),
    ]
    .concat();
    let trial = |(name, run): Case| {
        let name = name.strip_prefix("serve::").unwrap_or(name);
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    let conclusion = libtest_mimic::run(&Arguments::from_args(), cases.into_iter().map(trial).collect());
    gateways::end_shared();
    conclusion.exit();
}
