//! The name of one execution: unguessable, and short enough for a model to repeat.

use std::fmt;

use super::unguessable;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionId(String);

impl ExecutionId {
    pub fn new() -> Result<Self, getrandom::Error> {
        unguessable::new().map(Self)
    }

    /// One that somebody wrote. Whether there is such an execution is another question.
    pub fn read(text: &str) -> Option<Self> {
        unguessable::fits(text).then(|| Self(text.to_owned()))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
