//! What a skill is called: a name that a program can import and a file system can hold.

use std::fmt;

use super::taken_names::{BUILT_INS, HELPERS, MODULES};
use crate::catalogue::{Catalogue, fold, identifier};
use crate::visible_text::one_line;

/// Long enough to say what it does.
const NAME_BYTES_MAX: usize = 64;

/// The name of a skill. Two names that fold alike are one name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SkillName(String);

/// A name that no skill can have. Nothing was saved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("`{name}` isn't a valid skill name: use a letter, then letters, digits or `_`, at most {NAME_BYTES_MAX}{}", instead(.suggestion.as_deref()))]
    Shape {
        /// As it was written, shortened.
        name: String,
        suggestion: Option<String>,
    },
    /// It means something else already.
    #[error("a skill can't be named `{name}`: {means}; choose another name")]
    Taken {
        /// As it was written.
        name: String,
        means: String,
    },
}

fn instead(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!("; `{name}` works")).unwrap_or_default()
}

impl SkillName {
    /// Checks the form, and that the name means nothing else to a program.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if !is_plain(text) {
            let suggestion = identifier(text.trim()).trim_start_matches('_').to_owned();
            return Err(NameError::Shape {
                name: one_line(text, NAME_BYTES_MAX),
                suggestion: Some(suggestion).filter(|name| is_plain(name) && !name.starts_with("tool_")),
            });
        }
        let means = match text.starts_with("test_") {
            true => Some("files that start with `test_` are tests"),
            false => meaning(&fold(text)),
        };
        match means {
            Some(means) => Err(NameError::Taken { name: text.to_owned(), means: means.to_owned() }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What two spellings of it have in common.
    pub fn folded(&self) -> String {
        fold(&self.0)
    }

    /// Whether a server or a tool has the name.
    pub fn check_free_in(&self, catalogue: &Catalogue) -> Result<(), NameError> {
        let folded = self.folded();
        for server in &catalogue.servers {
            let means = if fold(&server.identifier) == folded {
                format!("it is the server {}", server.folder)
            } else if let Some(tool) = server.tools.iter().find(|tool| fold(&tool.identifier) == folded) {
                format!("it is the tool {}.{}", server.folder, tool.stem)
            } else {
                continue;
            };
            return Err(NameError::Taken { name: self.0.clone(), means });
        }
        Ok(())
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_plain(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        // A word that one of the languages reserves becomes another one.
        && identifier(text) == text
}

/// What a folded name means already.
fn meaning(folded: &str) -> Option<&'static str> {
    let has = |names: &str| names.split(' ').any(|name| name == folded);
    if has(HELPERS) {
        return Some("every program already has that name");
    }
    if has(BUILT_INS) {
        return Some("it's a Python built-in");
    }
    has(MODULES).then_some("it's a module of the standard library")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ServerOffer;

    #[test]
    fn a_name_is_an_identifier_that_means_nothing_else() {
        for name in ["filter_vulnerabilities", "a", "Report2", &"n".repeat(64)] {
            assert_eq!(SkillName::new(name).expect(name).as_str(), name);
        }
        let told = |name: &str| SkillName::new(name).expect_err(name).to_string();
        for name in
            ["", "..", "../x", "a/b", ".a", "_a", "2x", "a b", "\u{e4}", "a\0", "class", &"n".repeat(65)]
        {
            assert!(told(name).contains("isn't a valid skill name"), "{name:?}");
        }
        assert!(told("filter-rows").ends_with("; `filter_rows` works"), "{}", told("filter-rows"));
        assert!(told("json").contains("module of the standard library"));
        assert!(told("JSON").contains("module of the standard library"));
        assert!(told("sorted").contains("Python built-in"));
        assert!(told("test_rows").contains("are tests"));
        assert!(told("searchTools").contains("every program already has"));
    }

    #[test]
    fn a_bad_name_is_told_in_one_short_line() {
        let text = format!("x\n\u{1b}[2J{}", "y".repeat(10_000));
        let told = SkillName::new(&text).expect_err("no name").to_string();
        assert!(told.len() < 300 && !told.contains(['\n', '\u{1b}']), "{told}");
    }

    #[test]
    fn servers_and_tools_keep_their_names() {
        let definition = crate::catalogue::ToolDefinition::from_text(r#"{"name":"update-record"}"#);
        let tools = vec![std::sync::Arc::new(definition.expect("a definition"))];
        let offer = ServerOffer { name: "crm".to_owned(), tools, ..ServerOffer::default() };
        let catalogue = Catalogue::new(vec![offer]);
        let told = |name: &str| {
            SkillName::new(name).expect(name).check_free_in(&catalogue).map_err(|e| e.to_string())
        };
        assert!(told("CRM").expect_err("a server").contains("it is the server crm"));
        assert!(told("update_record").expect_err("a tool").contains("it is the tool crm.update-record"));
        assert_eq!(told("update_records"), Ok(()));
    }
}
