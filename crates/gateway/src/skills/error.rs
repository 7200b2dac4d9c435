//! What goes wrong with skills, in words for whoever saves or uses one.

use gristmill_domain::Code;
use gristmill_domain::skills::{FilesError, FrontMatterError, NameError, SkillLanguage};

use crate::store::StoreError;

/// Nothing was changed, unless the variant says so.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    #[error(transparent)]
    Name(#[from] NameError),
    /// Not a skill of these files.
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error("SKILL.md: {0}")]
    Md(FrontMatterError),
    #[error("no skill `{name}`{}", nearest_text(.nearest))]
    Unknown {
        /// As it was written, shortened.
        name: String,
        /// The closest names there are.
        nearest: Vec<String>,
    },
    /// It has no such version.
    #[error("`{name}` has no version {version}{}", versions_text(.known))]
    NoVersion {
        name: String,
        version: i64,
        /// Those that can be read, the latest first.
        known: Vec<i64>,
    },
    /// It waits for the user.
    #[error(
        "the project skill `{0}` isn't approved yet: the user runs `gristmill skills show {0}`, then `gristmill skills approve {0}`"
    )]
    Waiting(String),
    /// Another spelling of a name that is taken.
    #[error("`{known}` already exists and reads like `{name}`; use that name, or pick another")]
    Alike {
        /// As it was written.
        name: String,
        /// The one that is there.
        known: String,
    },
    /// The code does not compile.
    #[error("not saved: the code isn't valid {language}: {message}{}", line_text(*.line))]
    Syntax {
        /// What it was read as.
        language: SkillLanguage,
        message: String,
        line: Option<u64>,
    },
    /// The test says no.
    #[error("not saved: the test failed: {message}{}", place_text(.file, *.line))]
    TestFailed {
        /// Which file of the skill.
        file: String,
        message: String,
        /// Where in the test.
        line: Option<u64>,
    },
    #[error("{0}")]
    Bad(String),
    /// As many as there may be.
    #[error("there are already {0} skills, which is the most there can be; delete some first")]
    TooMany(usize),
    /// As many changes wait as there may be.
    #[error(
        "{0} changes already wait for the user, which is the most there can be; the user runs `gristmill skills approve` or `gristmill skills reject` first"
    )]
    TooManyHeld(usize),
    /// Skills are only read here.
    #[error("can't change skills here: {0}")]
    ReadOnly(&'static str),
    /// Whoever asks may not do it, for the reason that is given.
    #[error("can't change skills here: {0}")]
    NotAllowed(&'static str),
    /// Nothing can be checked now.
    #[error("couldn't check the code: {0}")]
    Unchecked(String),
    /// The disk said no. What was there is still there.
    #[error("can't write {what}: {why}")]
    Disk {
        what: String,
        /// What the system says.
        why: String,
    },
    /// The database said no. A skill that was being saved may be in its folder without a history.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn nearest_text(nearest: &[String]) -> String {
    match nearest {
        [] => "; list_skills shows what's there".to_owned(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

fn versions_text(known: &[i64]) -> String {
    match known {
        [] => "; none is kept".to_owned(),
        known => {
            let numbers: Vec<String> = known.iter().map(ToString::to_string).collect();
            format!("; there are {}", numbers.join(", "))
        }
    }
}

fn line_text(line: Option<u64>) -> String {
    line.map(|line| format!(" (line {line})")).unwrap_or_default()
}

fn place_text(file: &str, line: Option<u64>) -> String {
    match line {
        Some(line) => format!(" ({file}, line {line})"),
        None => format!(" ({file})"),
    }
}

impl From<FrontMatterError> for SkillError {
    /// Not as its source: its words are told already.
    fn from(error: FrontMatterError) -> Self {
        SkillError::Md(error)
    }
}

impl SkillError {
    /// Which failure it is.
    pub fn code(&self) -> Code {
        match self {
            SkillError::Name(_)
            | SkillError::Files(_)
            | SkillError::Md(_)
            | SkillError::Unknown { .. }
            | SkillError::NoVersion { .. }
            | SkillError::Waiting(_)
            | SkillError::Alike { .. }
            | SkillError::Bad(_)
            | SkillError::TooMany(_)
            | SkillError::TooManyHeld(_)
            | SkillError::ReadOnly(_) => Code::BadRequest,
            SkillError::NotAllowed(_) => Code::PolicyDenied,
            SkillError::Syntax { .. } => Code::Syntax,
            SkillError::TestFailed { .. } => Code::Exception,
            SkillError::Unchecked(_) => Code::WorkerUnavailable,
            SkillError::Disk { .. } | SkillError::Store(_) => Code::Workspace,
        }
    }
}
