//! How a server is.

use std::time::Duration;

use super::connection::ServerFacts;

/// How one server is, as far as is known.
#[derive(Clone, Debug)]
pub struct ServerStatus {
    /// As it is configured.
    pub name: String,
    /// Whether it is there.
    pub state: ServerState,
    /// What it said about itself, now or last time.
    pub facts: Option<ServerFacts>,
    /// Tools that can be called.
    pub tools: usize,
    /// Tools, prompts, resources and instructions that wait for a review.
    pub waiting: usize,
    /// Which they are, in words that are fit for a model; empty if there are none.
    pub waiting_words: String,
    /// Definitions that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// How long it took to reach it, if that was asked for.
    pub took: Option<Duration>,
    /// The last lines that it wrote to its log.
    pub log: Vec<String>,
}

/// Whether a server is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    Up,
    /// Not started yet; what is known of it is from last time.
    Idle,
    /// Being reached for the first time; nothing is known of it yet.
    Starting,
    /// Not there, and why.
    Down(String),
    /// It wants a login first.
    LoginNeeded(String),
}
