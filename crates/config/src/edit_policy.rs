//! Puts one rule before all others in a file, and leaves everything else as it was.
//!
//! However the text was changed, the result is read again before it replaces the file: the one rule must be
//! what was meant, and the rest what it was.

use std::path::Path;

use gristmill_files::replace_keeping_mode;
use gristmill_gateway::domain::policy::Decision;
use serde_json::{Value as Json, json};
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value as TomlValue};

use super::edit::{EditError, File};
use super::edit_toml::{implicit, insert_first, put_before, table_of_word};
use super::format::Format;
use super::server_place::UnsafeReason;

const TABLE: &str = "policy";
const RULES: &str = "rules";

/// A rule about tools by name.
#[derive(Clone, Copy, Debug)]
pub struct NamedRule<'a> {
    /// Names; `*` is anything.
    pub server: &'a str,
    pub tool: &'a str,
    pub decision: Decision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleDone {
    Added,
    /// The first rule was about the same tools, and said something else.
    Changed,
    /// The first rule says so already.
    AsItWas,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Now,
    /// Only what would be done is told.
    Not,
}

impl NamedRule<'_> {
    /// As it is written in a file.
    pub fn text(&self) -> String {
        let mut document = DocumentMut::new();
        document.insert(TABLE, Item::Table(implicit()));
        match put_first(&mut document, self) {
            Ok(()) => document.to_string(),
            // A table of our own takes a rule.
            Err(_) => String::new(),
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        for (key, value) in self.entries() {
            table.insert(key, Item::Value(value.into()));
        }
        table
    }

    fn inline(&self) -> InlineTable {
        self.entries().into_iter().collect()
    }

    fn entries(&self) -> [(&'static str, &str); 3] {
        [("server", self.server), ("tool", self.tool), ("decision", self.decision.as_str())]
    }

    fn json(&self) -> Json {
        json!({ "server": self.server, "tool": self.tool, "decision": self.decision.as_str() })
    }
}

/// Puts a rule before the others of a file, which is made if it isn't there.
pub fn put_rule(path: &Path, rule: &NamedRule<'_>, writing: Writing) -> Result<RuleDone, EditError> {
    let not_safe = |why| EditError::NotSafe { path: path.to_owned(), why };
    let file = File::read(path)?;
    if file.format != Format::Toml {
        return Err(not_safe("rules are written to TOML files only"));
    }
    let (expected, done) =
        expected(file.tree.to_json(), rule).ok_or(not_safe("its policy is not a table"))?;
    if done == RuleDone::AsItWas {
        return Ok(done);
    }
    let mut document: DocumentMut = file.text.lines.parse().map_err(|_| not_safe("it can't be parsed"))?;
    match done {
        RuleDone::Added => put_first(&mut document, rule).map_err(not_safe)?,
        RuleDone::Changed | RuleDone::AsItWas => set_first(&mut document, rule).map_err(not_safe)?,
    }
    let changed = document.to_string();
    let result = file.format.parse(&changed).map_err(|_| not_safe("the result could not be read again"))?;
    if result.to_json() != expected {
        return Err(not_safe("more than the one rule would have changed"));
    }
    if writing == Writing::Now {
        replace_keeping_mode(path, &file.text.restore(&changed))?;
    }
    Ok(done)
}

/// What the file should say afterwards.
fn expected(mut json: Json, rule: &NamedRule<'_>) -> Option<(Json, RuleDone)> {
    let policy = json.as_object_mut()?.entry(TABLE).or_insert_with(|| json!({}));
    if policy.is_string() {
        *policy = json!({ "preset": policy.take() });
    }
    let rules = policy.as_object_mut()?.entry(RULES).or_insert_with(|| json!([])).as_array_mut()?;
    let done = match rules.first_mut() {
        Some(first) if *first == rule.json() => RuleDone::AsItWas,
        Some(first) if is_about_the_same(first, rule) => {
            first["decision"] = json!(rule.decision.as_str());
            RuleDone::Changed
        }
        Some(_) | None => {
            rules.insert(0, rule.json());
            RuleDone::Added
        }
    };
    Some((json, done))
}

/// Whether a rule says nothing but a decision about these tools.
fn is_about_the_same(written: &Json, rule: &NamedRule<'_>) -> bool {
    let mut same = rule.json();
    same["decision"] = written["decision"].clone();
    *written == same
}

/// Before all others: the first that fits decides.
fn put_first(document: &mut DocumentMut, rule: &NamedRule<'_>) -> Result<(), UnsafeReason> {
    let is_empty = document.as_table().is_empty();
    let policy = table_of_word(document, TABLE, "preset");
    match policy {
        Item::Table(policy) => match policy.entry(RULES).or_insert(Item::ArrayOfTables(ArrayOfTables::new()))
        {
            Item::ArrayOfTables(rules) => {
                put_before(rules, rule.table(), is_empty);
                Ok(())
            }
            Item::Value(TomlValue::Array(rules)) => {
                insert_first(rules, rule.inline());
                Ok(())
            }
            Item::None | Item::Value(_) | Item::Table(_) => Err("its rules are not a list"),
        },
        Item::Value(TomlValue::InlineTable(policy)) => {
            let rules = policy.entry(RULES).or_insert(TomlValue::Array(toml_edit::Array::new()));
            let rules = rules.as_array_mut().ok_or("its rules are not a list")?;
            insert_first(rules, rule.inline());
            Ok(())
        }
        Item::None | Item::Value(_) | Item::ArrayOfTables(_) => Err("its policy is not a table"),
    }
}

/// Changes what the first rule decides.
fn set_first(document: &mut DocumentMut, rule: &NamedRule<'_>) -> Result<(), UnsafeReason> {
    let decision = rule.decision.as_str();
    let policy = document.as_table_mut().get_mut(TABLE).and_then(Item::as_table_like_mut);
    let rules = policy.and_then(|policy| policy.get_mut(RULES)).ok_or("its policy is not a table")?;
    let first = match rules {
        Item::ArrayOfTables(rules) => {
            rules.get_mut(0).and_then(|first| first.get_mut("decision")?.as_value_mut())
        }
        Item::Value(TomlValue::Array(rules)) => {
            rules.get_mut(0).and_then(|first| first.as_inline_table_mut()?.get_mut("decision"))
        }
        Item::None | Item::Value(_) | Item::Table(_) => None,
    };
    let first = first.ok_or("its rules are not a list")?;
    let decor = first.decor().clone();
    *first = decision.into();
    *first.decor_mut() = decor;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(before: &str, decision: Decision) -> (Result<RuleDone, String>, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gristmill.toml");
        std::fs::write(&path, before).expect("written");
        let rule = NamedRule { server: "crm", tool: "delete_*", decision };
        let planned = put_rule(&path, &rule, Writing::Not).map_err(|error| error.to_string());
        assert_eq!(std::fs::read_to_string(&path).expect("read"), before, "nothing is written yet");
        let done = put_rule(&path, &rule, Writing::Now).map_err(|error| error.to_string());
        assert_eq!(done.as_ref().ok(), planned.as_ref().ok());
        (done, std::fs::read_to_string(&path).expect("read"))
    }

    #[test]
    fn a_rule_comes_first_and_comments_stay() {
        let rule = "[[policy.rules]]\nserver = \"crm\"\ntool = \"delete_*\"\ndecision = \"allow\"\n";
        let check = |before: &str, after: &str| {
            assert_eq!(put(before, Decision::Allow), (Ok(RuleDone::Added), after.to_owned()), "{before}");
        };
        check("", rule);
        check("level = \"production\" # mine\n", &format!("level = \"production\" # mine\n\n{rule}"));
        check(
            "# why\n[[policy.rules]]\nserver = \"mail\"\ndecision = \"deny\"\n\n[history]\nkeep = \"1d\"\n",
            &format!(
                "{rule}\n# why\n[[policy.rules]]\nserver = \"mail\"\ndecision = \"deny\"\n\n[history]\nkeep = \"1d\"\n"
            ),
        );
        check(
            "[policy]\npreset = \"strict\" # strict\n\n[history]\nkeep = \"1d\"\n",
            &format!("[policy]\npreset = \"strict\" # strict\n\n{rule}\n[history]\nkeep = \"1d\"\n"),
        );
        check(
            "[policy]\nrules = [{ server = \"mail\", decision = \"deny\" }] # all\n",
            "[policy]\nrules = [{ server = \"crm\", tool = \"delete_*\", decision = \"allow\" }, { server = \"mail\", decision = \"deny\" }] # all\n",
        );
        check(
            "# how\npolicy = \"careful\"\n[history]\nkeep = \"1d\"\n",
            &format!("[history]\nkeep = \"1d\"\n\n# how\n[policy]\npreset = \"careful\"\n\n{rule}"),
        );
    }

    #[test]
    fn the_same_rule_is_changed_in_its_place_and_not_written_twice() {
        let (_, allowed) = put("# mine\n", Decision::Allow);
        assert_eq!(put(&allowed, Decision::Allow), (Ok(RuleDone::AsItWas), allowed.clone()));
        let denied = allowed.replace("\"allow\"", "\"deny\"");
        assert_eq!(put(&allowed, Decision::Deny), (Ok(RuleDone::Changed), denied));
        let narrower = allowed.replace("decision", "session = \"a\"\ndecision");
        assert_eq!(put(&narrower, Decision::Allow).0, Ok(RuleDone::Added));
    }

    #[test]
    fn what_is_no_policy_is_left_alone() {
        for before in
            ["policy = 3\n", "[policy]\nrules = 3\n", "[[policy]]\nserver = \"a\"\n", "policy = [\n"]
        {
            let (done, after) = put(before, Decision::Deny);
            assert!(done.is_err() && after == before, "{before}: {done:?}");
        }
    }
}
