//! Skills listed, for models and programs: few words, each skill on lines of its own.

use std::collections::HashMap;

use gristmill_domain::catalogue::{Catalogue, Lookup, Server, Tool};
use gristmill_domain::search::{Index, Query};
use gristmill_domain::skills::{SkillLanguage, ToolDrift, usage_line};
use serde_json::{Value, json};

use super::skill::{Skill, SkillPlace};
use super::view::SkillsView;

/// More than this many are found with words or tags.
const SHOWN_MAX: usize = 100;

/// How much of each skill is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListDetail {
    Names,
    /// What it is for and how it is used.
    #[default]
    Summary,
    /// And every function, its tools, and when it was saved.
    Full,
}

/// Which skills are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct ListQuery {
    /// Words; none for all.
    pub query: String,
    /// All of these tags.
    pub tags: Vec<String>,
    /// How much of each is told.
    #[serde(rename = "detail_level")]
    pub detail: ListDetail,
}

/// Skills that were found, best first or by name.
pub struct ListedSkills<'a> {
    shown: Vec<&'a Skill>,
    total: usize,
    /// How many there are, whatever was asked for.
    usable: usize,
    waiting: usize,
    detail: ListDetail,
    lookup: Option<&'a Lookup>,
    /// Servers that were never asked for their tools.
    unchecked: Vec<String>,
}

/// Finds the skills that are wanted. `lookup` tells what became of the tools that they need.
pub fn listed<'a>(view: &'a SkillsView, query: &ListQuery, lookup: Option<&'a Lookup>) -> ListedSkills<'a> {
    let has_tags = |skill: &&Skill| {
        let own = skill.tags();
        query.tags.iter().all(|wanted| own.iter().any(|tag| tag.eq_ignore_ascii_case(wanted.trim())))
    };
    let usable: Vec<&Skill> = match query.query.trim() {
        "" => view.usable().filter(has_tags).collect(),
        words => ranked(view, words).into_iter().filter(has_tags).collect(),
    };
    let waiting = view.waiting();
    let total = usable.len();
    ListedSkills {
        shown: usable.into_iter().take(SHOWN_MAX).collect(),
        total,
        usable: view.usable().count(),
        waiting: waiting.count(),
        detail: query.detail,
        lookup,
        unchecked: Vec::new(),
    }
}

fn ranked<'a>(view: &'a SkillsView, words: &str) -> Vec<&'a Skill> {
    let index = Index::new(std::sync::Arc::new(view.offer().beside(&Catalogue::default())));
    let query = Query { limit: SHOWN_MAX, ..Query::new(words) };
    let name = |_: &Server, tool: &Tool| tool.definition.name.clone();
    let by_name: HashMap<&str, &Skill> = view.usable().map(|skill| (skill.name.as_str(), skill)).collect();
    // Words without any filter always have an answer.
    let hits = index.search(&query, None, &name).map(|answer| answer.hits).unwrap_or_default();
    hits.iter().filter_map(|hit| by_name.get(hit.signature.as_str()).copied()).collect()
}

impl ListedSkills<'_> {
    /// The same, where it is known which servers were never asked: a tool of theirs is not missing.
    pub fn with_unchecked(self, unchecked: Vec<String>) -> Self {
        Self { unchecked, ..self }
    }

    /// How many there are, on this page and altogether.
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.total)
    }

    /// As JSON, one object each.
    pub fn values(&self) -> Vec<Value> {
        self.shown.iter().map(|skill| self.value(skill)).collect()
    }

    fn value(&self, skill: &Skill) -> Value {
        let name = skill.name.as_str();
        if self.detail == ListDetail::Names {
            return json!({"name": name});
        }
        let facts = skill.facts();
        let mut value = json!({
            "name": name,
            "description": skill.description(),
            "version": skill.version,
            "language": skill.language.as_str(),
            "use": usage_line(name, &facts),
            "place": skill.place.as_str(),
        });
        if !skill.tags().is_empty() {
            value["tags"] = json!(skill.tags());
        }
        let troubles = self.troubles(skill);
        if !troubles.is_empty() {
            value["trouble"] = json!(troubles);
        }
        if self.detail == ListDetail::Full {
            let tools = facts.tools.iter().map(|tool| tool.name.as_str());
            value["tools"] = tools.collect();
            value["functions"] =
                json!(facts.functions.iter().map(|function| function.name.as_str()).collect::<Vec<_>>());
            value["saved"] = json!(skill.how.told(&skill.saved_by));
        }
        value
    }

    fn troubles(&self, skill: &Skill) -> Vec<String> {
        let language = skill.language;
        let broken = skill.broken().map(|why| format!("can't be imported: it isn't valid {language}: {why}"));
        let drifted = skill.drift(self.lookup).into_iter().map(|drift| match drift {
            ToolDrift::Gone(tool) if self.is_unchecked(&tool) => format!("needs {tool}: not checked yet"),
            drift @ (ToolDrift::Gone(_) | ToolDrift::Changed(_)) => drift.to_string(),
        });
        broken.into_iter().chain(drifted).collect()
    }

    /// Whether the tool may be one of a server that was never asked.
    fn is_unchecked(&self, tool: &str) -> bool {
        let folded = |name: &str| name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "_");
        match tool.split_once('.') {
            Some((server, _)) => self.unchecked.iter().any(|name| folded(name) == folded(server)),
            None => !self.unchecked.is_empty(),
        }
    }

    /// One text for each.
    pub fn entries(&self) -> Vec<String> {
        self.shown.iter().map(|skill| self.entry(skill)).collect()
    }

    fn entry(&self, skill: &Skill) -> String {
        let name = skill.name.as_str();
        if self.detail == ListDetail::Names {
            return name.to_owned();
        }
        let facts = skill.facts();
        let tags = skill.tags();
        let tags = if tags.is_empty() { String::new() } else { format!(" [{}]", tags.join(", ")) };
        let description = skill.description();
        let colon = if description.is_empty() { "" } else { ": " };
        let place = match skill.place {
            SkillPlace::User => "",
            SkillPlace::Project => ", project",
        };
        let language = match skill.language {
            SkillLanguage::Python => "",
            SkillLanguage::TypeScript => ", TypeScript",
        };
        let mut text = format!(
            "{name} (v{}{language}{place}){tags}{colon}{description}\n    {}",
            skill.version,
            usage_line(name, &facts)
        );
        for trouble in self.troubles(skill) {
            text.push_str(&format!("\n    warning: {trouble}"));
        }
        if self.detail == ListDetail::Full {
            let others = facts.functions.iter().map(|function| function.name.as_str()).collect::<Vec<_>>();
            let tools = facts.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
            if !others.is_empty() {
                text.push_str(&format!("\n    functions: {}", others.join(", ")));
            }
            if !tools.is_empty() {
                text.push_str(&format!("\n    tools: {}", tools.join(", ")));
            }
            text.push_str(&format!("\n    {} ({})", skill.how.told(&skill.saved_by), skill.place.as_str()));
        }
        text
    }

    /// What is to be known beside: more of them, and those that wait.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.total > self.shown.len() {
            remarks.push(format!("{} more: use words or tags.", self.total - self.shown.len()));
        }
        // By number only: a model reads this, and their names are anybody's words.
        if self.waiting > 0 {
            remarks.push(format!(
                "{} of this project can't be used until the user approves them: `gristmill skills list` shows them.",
                self.waiting
            ));
        }
        remarks
    }

    /// Why there are none; nothing if there are some.
    pub fn why_none(&self) -> Option<String> {
        match (self.total, self.usable) {
            (0, 0) => Some("No skills. save_skill(name, code, description) saves one.".to_owned()),
            (0, 1) => Some("The only skill doesn't match; list_skills() shows it.".to_owned()),
            (0, usable) => Some(format!("None of {usable} skills match; list_skills() shows all.")),
            (_, _) => None,
        }
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        let counted = match self.total {
            1 => "1 skill".to_owned(),
            count => format!("{count} skills"),
        };
        let mut lines = vec![self.why_none().unwrap_or(counted)];
        lines.extend(self.entries());
        lines.extend(self.remarks());
        lines.join("\n")
    }
}
