//! A language model that writes text: who asks for one and what comes back. What it writes is hostile, like
//! everything from outside: it becomes a program behind the wall, or words for a person, and nothing else.

use super::BoxFuture;

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Who it is to be and what it may use.
    pub system: String,
    /// What was said so far, oldest first; the last is ours.
    pub turns: Vec<Turn>,
    /// The longest answer, in the model's own tokens.
    pub output_tokens_max: u32,
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub speaker: Speaker,
    pub text: String,
}

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    Us,
    Model,
}

/// What a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    /// As the provider counts them; `None` if it does not say.
    pub tokens: Option<TokensUsed>,
    pub ending: Ending,
}

/// What a provider bills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokensUsed {
    pub input: u64,
    pub output: u64,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It said all it wanted to.
    Finished,
    /// Its answer ran into its limit.
    Length,
    /// It or its provider declined.
    Refused,
}

/// Who writes, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    /// Such as `openai`, `azure`, `anthropic`, `compatible`, `client`.
    pub provider: String,
    /// Such as `gpt-5`, or the deployment's name.
    pub model: String,
}

/// What tokens cost, in US dollars for a million.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

/// Nothing was written. What was streamed before is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelFailure {
    /// The key is wrong or may not use the model: asking again is of no use.
    #[error("{provider} refused the key: {reason}")]
    Denied { provider: String, reason: String },
    /// No such model, deployment or address.
    #[error("{provider} has no {what}: {reason}")]
    Unknown { provider: String, what: String, reason: String },
    /// It said to come back later, more often than we try.
    #[error("{provider} is busy: {reason}")]
    Busy { provider: String, reason: String },
    /// It could not be reached, or broke off.
    #[error("{provider} can't be reached: {reason}")]
    Unreachable { provider: String, reason: String },
    /// It answered something that is no answer, or more than is read.
    #[error("{provider} answered what can't be used: {reason}")]
    Garbled { provider: String, reason: String },
    /// It did not finish in time.
    #[error("{provider} did not finish within {seconds} s")]
    Late { provider: String, seconds: u64 },
}

/// Hears an answer while it is written, in pieces of any size.
pub trait WritingWatch: Send + Sync {
    fn piece(&self, text: &str);
    /// What came so far is void; it is asked again. `reason` is for people, and may say which try it is.
    fn again(&self, reason: &str);
}

/// A language model. Dropping the future ends the request.
pub trait Model: Send + Sync {
    fn name(&self) -> ModelName;
    /// `None` if nobody told.
    fn price(&self) -> Option<Price>;
    fn write<'a>(
        &'a self,
        prompt: &'a Prompt,
        watch: &'a dyn WritingWatch,
    ) -> BoxFuture<'a, Result<Written, ModelFailure>>;
}
