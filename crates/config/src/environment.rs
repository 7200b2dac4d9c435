//! `GRISTMILL_*` variables.

use std::ffi::OsStr;
use std::path::PathBuf;

use gristmill_files::Surroundings;
use gristmill_gateway::domain::{Level, LimitError, LimitName, PrivacyMode};

use super::problem::{Place, Problem, ProblemKind, Severity, closest};

const PREFIX: &str = "GRISTMILL_";
const LIMIT: &str = "GRISTMILL_LIMIT_";
const KNOWN: [&str; 9] = [
    "GRISTMILL_CACHE_DIR",
    "GRISTMILL_CONFIG",
    "GRISTMILL_DATA_DIR",
    "GRISTMILL_LEVEL",
    "GRISTMILL_LOG",
    "GRISTMILL_NPM",
    "GRISTMILL_PRIVACY",
    "GRISTMILL_SCRATCH_DIR",
    "GRISTMILL_TYPE_CHECKER",
];
/// For building Gristmill; whoever builds it has them set when running it, too.
const FOR_BUILDING: [&str; 4] =
    ["GRISTMILL_PYTHON", "GRISTMILL_QUICKJS_MODULE", "GRISTMILL_BUILD_CACHE", "GRISTMILL_ENCODER"];

/// What the environment says.
#[derive(Debug, Default)]
pub struct FromEnvironment {
    /// The file to use.
    pub config: Option<PathBuf>,
    pub level: Option<Level>,
    pub privacy: Option<PrivacyMode>,
    /// Limits as they are written, each with its variable.
    pub limits: Vec<(LimitName, String, String)>,
    pub problems: Vec<Problem>,
}

pub fn read(surroundings: &Surroundings) -> FromEnvironment {
    let mut read = FromEnvironment::default();
    for (name, value) in &surroundings.environment {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        if value.is_empty() {
            continue;
        }
        if let Err((severity, kind)) = read.take(name, value) {
            let place = Place { file: None, line: None, key: Some(name.to_owned()) };
            read.problems.push(Problem { severity, place, kind });
        }
    }
    read
}

impl FromEnvironment {
    fn take(&mut self, name: &str, value: &OsStr) -> Result<(), (Severity, ProblemKind)> {
        let text = || value.to_str().ok_or((Severity::Error, ProblemKind::NotText));
        match name {
            "GRISTMILL_CONFIG" => self.config = Some(PathBuf::from(value)),
            "GRISTMILL_LEVEL" => {
                let level = text()?.parse::<Level>();
                self.level = Some(level.map_err(|error| (Severity::Error, error.into()))?);
            }
            "GRISTMILL_PRIVACY" => {
                let mode = text()?.parse::<PrivacyMode>();
                self.privacy = Some(mode.map_err(|error| (Severity::Error, error.into()))?);
            }
            name if KNOWN.contains(&name) => {}
            name if FOR_BUILDING.iter().any(|known| name.starts_with(known)) => {}
            name => match name.strip_prefix(LIMIT) {
                Some(limit) => {
                    let limit = limit_named(limit).map_err(|error| (Severity::Error, error.into()))?;
                    self.limits.push((limit, text()?.to_owned(), name.to_owned()));
                }
                None => {
                    return Err((
                        Severity::Warning,
                        ProblemKind::UnknownVariable { nearest: nearest_to(name) },
                    ));
                }
            },
        }
        Ok(())
    }
}

fn limit_named(name: &str) -> Result<LimitName, LimitError> {
    let name = name.to_ascii_lowercase();
    let names = LimitName::ALL.map(LimitName::as_str);
    LimitName::from_name(&name).ok_or_else(|| LimitError::Unknown {
        nearest: closest(&name, &names).and_then(|near| names.into_iter().find(|known| *known == near)),
        name,
    })
}

fn nearest_to(name: &str) -> Option<String> {
    let limits = LimitName::ALL.map(|limit| format!("{LIMIT}{}", limit.as_str().to_ascii_uppercase()));
    let known: Vec<&str> = KNOWN.into_iter().chain(limits.iter().map(String::as_str)).collect();
    // Every name shares the prefix, which must not make them all look alike.
    let bare: Vec<&str> = known.iter().filter_map(|known| known.strip_prefix(PREFIX)).collect();
    closest(name.strip_prefix(PREFIX)?, &bare).map(|near| format!("{PREFIX}{near}"))
}
