//! Why variables that had been kept are gone, in words for whoever asks for them.

use std::fmt;
use std::time::Duration;

/// Why variables that had been kept are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Others were used later.
    MadeRoom,
    /// Nobody asked for so long.
    Idle(Duration),
    /// Its process is gone.
    Gone,
    /// It said something while it had nothing to say.
    Spoke,
    /// The session has another folder now.
    OtherWorkspace,
    /// Another gateway has run a program of the session since.
    Outdated,
    /// Another gateway kept them, perhaps this one before its restart.
    Elsewhere,
    /// The session was emptied.
    Reset,
    /// Someone said so, in these words.
    Forgotten(String),
    /// The program's end took them along; how.
    Ended(String),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::MadeRoom => f.write_str("the interpreter was stopped to make room for others"),
            Lost::Idle(time) if time.as_secs() >= 120 => {
                write!(f, "the interpreter was idle for {} minutes", time.as_secs() / 60)
            }
            Lost::Idle(time) => write!(f, "the interpreter was idle for {} s", time.as_secs()),
            Lost::Gone => f.write_str("the interpreter's process ended"),
            Lost::Spoke => f.write_str("the interpreter broke the protocol while idle and was killed"),
            Lost::OtherWorkspace => f.write_str("the session's workspace was replaced"),
            Lost::Outdated => f.write_str("another gateway has run a program in the session since"),
            Lost::Elsewhere => f.write_str("another gateway kept them, or this one before it restarted"),
            Lost::Reset => f.write_str("the session was reset"),
            Lost::Forgotten(why) | Lost::Ended(why) => f.write_str(why),
        }
    }
}
