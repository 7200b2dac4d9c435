//! Every limit of a conversation with a provider, each with its reason.

use std::time::Duration;

/// Of an answer's text: a program of 256 KiB is no program any more.
pub(crate) const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// Of one event of a stream: the last one of OpenAI's repeats the instructions and the whole answer.
pub(crate) const EVENT_BYTES_MAX: usize = 1024 * 1024;

/// Of a whole stream, which says little with many bytes. Nothing of it is kept but the answer.
pub(crate) const STREAM_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Of what is read of an error's body.
pub(crate) const ERROR_BYTES_MAX: usize = 64 * 1024;

/// Of what people see of it.
pub(crate) const REASON_CHARS_MAX: usize = 300;

/// Of one model's parameters in one answer: each can be refused once.
pub(crate) const CORRECTIONS_MAX: usize = 4;

/// How long and how often a provider is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// To connect.
    pub connect: Duration,
    /// From the request to the first byte of the answer: a local model may have to be loaded first.
    pub first_byte: Duration,
    /// Between two pieces of the answer: reasoning models are silent for a while.
    pub idle: Duration,
    /// For one answer, with every try and pause.
    pub total: Duration,
    pub tries_max: u32,
    /// Before the second try; doubled before each further one.
    pub first_pause: Duration,
    /// Of a pause of ours.
    pub pause_max: Duration,
    /// Of a pause that the provider asks for: who asks for more is tried after this one all the same.
    pub asked_pause_max: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(90),
            idle: Duration::from_secs(90),
            total: Duration::from_secs(300),
            tries_max: 4,
            first_pause: Duration::from_millis(500),
            pause_max: Duration::from_secs(8),
            asked_pause_max: Duration::from_secs(30),
        }
    }
}
