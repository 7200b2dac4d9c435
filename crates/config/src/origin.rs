//! Where a setting comes from.

use std::fmt;
use std::path::PathBuf;

use super::problem::shown;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File {
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// A variable of the environment.
    Variable(String),
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { path, line } => {
                write!(f, "{}:{line}", shown(&path.display().to_string()))
            }
            Origin::Variable(name) => f.write_str(name),
            Origin::Flag => f.write_str("flag"),
        }
    }
}
