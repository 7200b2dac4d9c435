//! One attack: a program, and how it has to end.

use gristmill_gateway::EngineId;
use serde::Serialize;

/// Language, class, name and text of each program.
static PROGRAMS: &[(Language, &str, &str, &str)] = &include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// What a program may take unless it says otherwise.
const TIMEOUT_MS: u64 = 2000;
const MEMORY_MB: u64 = 512;

/// What an attack is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Python,
    /// Or TypeScript, which the same engine runs.
    JavaScript,
}

impl Language {
    pub fn engine(self) -> EngineId {
        match self {
            Self::Python => EngineId::Python,
            Self::JavaScript => EngineId::TypeScript,
        }
    }

    /// How its comments begin.
    fn comment(self) -> &'static str {
        match self {
            Self::Python => "# ",
            Self::JavaScript => "// ",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Attack {
    pub language: Language,
    pub class: &'static str,
    pub name: &'static str,
    /// What is tried, in one line.
    pub what: &'static str,
    /// Endings, any of which is right.
    pub(crate) expect: Vec<&'static str>,
    /// What must not come back.
    pub(crate) forbid: Vec<&'static str>,
    /// Whether it is tried in two sessions, one after the other.
    pub(crate) twice: bool,
    pub(crate) timeout_ms: u64,
    pub(crate) memory_mb: u64,
    /// Whether the native engine lets it, since what it is after is part of a Python on a machine.
    is_natively_permitted: bool,
    /// With placeholders.
    pub(crate) code: &'static str,
}

/// A program whose first lines do not say what to make of it.
#[derive(Debug, thiserror::Error)]
#[error("{class}/{name}: {why}")]
pub struct BadHeader {
    class: &'static str,
    name: &'static str,
    why: &'static str,
}

/// All attacks of both languages, by class and name.
pub fn all() -> Result<Vec<Attack>, BadHeader> {
    PROGRAMS.iter().map(|(language, class, name, code)| read(*language, class, name, code)).collect()
}

impl Attack {
    /// `files::parent_folders`, `javascript::files::climb_with_dots`.
    pub fn full_name(&self) -> String {
        full_name(self.language, self.class, self.name)
    }

    /// Whether it is one for the native engine, too.
    pub fn is_for_native(&self) -> bool {
        self.language == Language::Python && !self.is_natively_permitted
    }

    /// Whether a time limit is one of its right endings.
    pub(crate) fn may_run_out_of_time(&self) -> bool {
        self.expect.iter().any(|ending| ending.ends_with("_time"))
    }
}

/// Python's have none before theirs, as they were there first.
pub(crate) fn full_name(language: Language, class: &str, name: &str) -> String {
    match language {
        Language::Python => format!("{class}::{name}"),
        Language::JavaScript => format!("javascript::{class}::{name}"),
    }
}

fn read(
    language: Language,
    class: &'static str,
    name: &'static str,
    code: &'static str,
) -> Result<Attack, BadHeader> {
    let bad = |why| BadHeader { class, name, why };
    let mut attack = Attack {
        language,
        class,
        name,
        what: "",
        expect: Vec::new(),
        forbid: Vec::new(),
        twice: false,
        timeout_ms: TIMEOUT_MS,
        memory_mb: MEMORY_MB,
        is_natively_permitted: false,
        code,
    };
    for line in code.lines() {
        let Some((key, value)) = line.strip_prefix(language.comment()).and_then(|rest| rest.split_once(": "))
        else {
            break;
        };
        let value = value.trim();
        match key {
            "attack" => attack.what = value,
            "expect" => attack.expect = value.split(" | ").collect(),
            "forbid" => attack.forbid.push(value),
            "twice" => attack.twice = value == "yes",
            "native" => attack.is_natively_permitted = value == "permitted",
            "timeout_ms" => {
                attack.timeout_ms = value.parse().map_err(|_| bad("timeout_ms isn't a number"))?;
            }
            "memory_mb" => attack.memory_mb = value.parse().map_err(|_| bad("memory_mb isn't a number"))?,
            _ => break,
        }
    }
    match (attack.what, attack.expect.is_empty()) {
        ("", _) => Err(bad("it doesn't say what it tries")),
        (_, true) => Err(bad("it expects nothing")),
        (_, false) => Ok(attack),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_at_least_150_attacks_and_60_in_javascript_each_with_a_header_and_a_name_of_its_own() {
        let all = all().expect("headers");
        let names: BTreeSet<String> = all.iter().map(Attack::full_name).collect();
        let of = |language| all.iter().filter(|attack| attack.language == language).count();
        assert!(of(Language::Python) >= 150, "{}", of(Language::Python));
        assert!(of(Language::JavaScript) >= 60, "{}", of(Language::JavaScript));
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn a_header_that_says_too_little_is_refused() {
        for bad in ["", "# attack: x\n", "# expect: ok\n", "# attack: x\n# expect: ok\n# timeout_ms: soon\n"]
        {
            assert!(read(Language::Python, "files", "x", bad).is_err(), "{bad:?}");
        }
        let good = "# attack: x\n# expect: ok | limit:wall_time\n# forbid: A\n1";
        for (language, code) in [
            (Language::Python, good),
            (Language::JavaScript, "// attack: x\n// expect: ok | limit:wall_time\n// forbid: A\n1"),
        ] {
            let good = read(language, "files", "x", code).expect("good");
            assert_eq!((good.expect.len(), good.forbid.len(), good.may_run_out_of_time()), (2, 1, true));
        }
        assert!(read(Language::JavaScript, "files", "x", good).is_err());
    }
}
