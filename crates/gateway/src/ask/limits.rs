//! Every limit of an ask, with its reason.

use std::time::Duration;

/// What an ask may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskLimits {
    /// How often a program that fails goes back to its model.
    pub repairs: u32,
    /// What the definitions of tools may take of a prompt, in tokens (o200k).
    pub stub_tokens: usize,
    /// What all prompts and answers may take together, in tokens.
    pub total_tokens: u64,
    /// How long all writing and checking may take together. A program that runs has its own limit, and a person who
    /// thinks about it isn't counted.
    pub total_time: Duration,
    /// What one answer of a model may take, in its own tokens.
    pub output_tokens: u32,
}

impl Default for AskLimits {
    fn default() -> Self {
        Self {
            repairs: 3,
            stub_tokens: 4_000,
            total_tokens: 200_000,
            total_time: Duration::from_secs(5 * 60),
            output_tokens: 8_000,
        }
    }
}

/// A task in words is short; what is longer is data, which belongs into a file.
pub(super) const SENTENCE_CHARS_MAX: usize = 4_000;

/// What a record says of the task.
pub(super) const NOTE_CHARS_MAX: usize = 300;

/// Tools that a search gives. More never fit.
pub(super) const TOOLS_MAX: usize = 25;

/// What is read of a model's answer. No program that anybody looks through is longer.
pub(super) const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// What a program may be.
pub(super) const PROGRAM_BYTES_MAX: usize = 64 * 1024;

/// What goes back of a model's answer that had no program in it.
pub(super) const WORDS_CHARS_MAX: usize = 1_000;

/// What is told of a failure, so that it can be repaired, in tokens.
pub(super) const FAILURE_TOKENS_MAX: usize = 800;

/// Findings that are told, and writes.
pub(super) const TOLD_MAX: usize = 20;

/// Answers without a program after which another writer has its turn.
pub(super) const WORDS_MAX: u32 = 2;

/// Events that nobody has taken. Beyond this the ask waits for its reader.
pub(super) const EVENTS_MAX: usize = 1_024;

/// What is told at once of an answer that is being written.
pub(super) const PIECE_BYTES_MAX: usize = 16 * 1024;

/// How long somebody may think about a program.
pub(super) const CONSENT_WAIT_MAX: Duration = Duration::from_secs(10 * 60);
