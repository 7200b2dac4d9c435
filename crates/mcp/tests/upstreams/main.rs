//! Upstream servers that misbehave in every way, over stdio and over HTTP, first through the port
//! and then through the gateway. This binary is also the server that it starts.

mod calls;
mod cases;
mod http;
mod messages;
mod person;
mod presence;
mod questions;
mod readables;
mod reserved_names;
mod reviews;
mod reviews_of_words;
mod stdio;
mod world;

#[path = "../support/scripted_http.rs"]
mod scripted_http;
#[path = "../support/scripted_readables.rs"]
mod scripted_readables;
#[path = "../support/scripted_server.rs"]
mod scripted_server;

use libtest_mimic::Arguments;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("scripted-server") => scripted_server::run(&arguments[2..]),
        Some("supervisor") => scripted_server::keep(&arguments[2..]),
        _ => {}
    }
    let cases = [
        stdio::cases(),
        messages::cases(),
        http::cases(),
        calls::cases(),
        presence::cases(),
        reviews::cases(),
        reviews_of_words::cases(),
        reserved_names::cases(),
        questions::cases(),
        readables::cases(),
    ]
    .concat();
    libtest_mimic::run(&Arguments::from_args(), cases.into_iter().map(cases::trial).collect()).exit();
}
