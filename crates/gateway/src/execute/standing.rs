//! Where a program stood when its time was over, as far as its calls tell.

use std::fmt;
use std::time::Duration;

use gristmill_domain::{format_ms, one_line};

/// Names come from the program.
const NAME_CHARS_MAX: usize = 80;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Standing {
    /// It waited for calls; this is the oldest of them.
    Waiting { call: CallAt, others: usize },
    /// It computed; this call was the last to be answered.
    Computing { last: CallAt },
    /// It made no call.
    #[default]
    Unknown,
}

/// A call, and how long ago it was made or answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallAt {
    pub name: String,
    pub line: Option<u64>,
    pub ago: Duration,
}

impl Standing {
    /// The line of the program, where it is known.
    pub fn line(&self) -> Option<u64> {
        match self {
            Standing::Waiting { call, .. } => call.line,
            // It has gone on since.
            Standing::Computing { .. } | Standing::Unknown => None,
        }
    }
}

/// Goes behind "timed out after 5 s".
impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Standing::Waiting { call, others } => {
                let more = match others {
                    0 => String::new(),
                    1 => " and 1 more call".to_owned(),
                    others => format!(" and {others} more calls"),
                };
                write!(f, "; it had been waiting {} for {}{more}", tenths(call.ago), call.shown())
            }
            Standing::Computing { last } => {
                let (name, ago) = (last.shown(), tenths(last.ago));
                write!(f, "; it had been computing for {ago}, since {name} answered")
            }
            Standing::Unknown => Ok(()),
        }
    }
}

impl CallAt {
    fn shown(&self) -> String {
        let line = self.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("`{}`{line}", one_line(&self.name, NAME_CHARS_MAX))
    }
}

fn tenths(time: Duration) -> String {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    format_ms(if ms >= 1_000 { ms / 100 * 100 } else { ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_the_oldest_open_call_or_the_last_answer() {
        let call =
            |line, ms| CallAt { name: "weather.current".to_owned(), line, ago: Duration::from_millis(ms) };
        let check = |standing: Standing, expected: &str| assert_eq!(standing.to_string(), expected);
        check(
            Standing::Waiting { call: call(Some(3), 4_216), others: 0 },
            "; it had been waiting 4.2 s for `weather.current` (line 3)",
        );
        check(
            Standing::Waiting { call: call(None, 900), others: 2 },
            "; it had been waiting 900 ms for `weather.current` and 2 more calls",
        );
        check(
            Standing::Computing { last: call(Some(3), 4_000) },
            "; it had been computing for 4 s, since `weather.current` (line 3) answered",
        );
        check(Standing::Unknown, "");
    }
}
