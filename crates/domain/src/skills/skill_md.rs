//! `SKILL.md`: what a skill is for and how it is used, for people, models and git.

use serde_json::{Value, json};

use super::facts::{CodeFacts, DEFAULT_EXPORT, FunctionFact};
use super::front_matter::{FrontMatter, FrontMatterError};
use super::language::SkillLanguage;
use super::name::SkillName;
use super::{DESCRIPTION_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX};
use crate::catalogue::first_sentence;
use crate::visible_text::one_line;

/// Functions whose use is shown.
const FUNCTIONS_SHOWN_MAX: usize = 20;
const PARAMETER_CHARS_MAX: usize = 120;

/// The file, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillMd {
    /// What stands between the `---` lines.
    pub front: FrontMatter,
    pub body: String,
}

/// What whoever saves a skill says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// In one sentence; none to keep what is said already.
    pub description: Option<String>,
    /// None to keep those there are.
    pub tags: Option<Vec<String>>,
}

impl SkillMd {
    /// Takes the file apart. One without front matter is a body.
    pub fn parse(text: &str) -> Result<Self, FrontMatterError> {
        let Some(rest) = text.strip_prefix("---\n") else {
            return Ok(Self { front: FrontMatter::default(), body: text.to_owned() });
        };
        let (front, body) = if let Some(body) = rest.strip_prefix("---\n") {
            ("", body)
        } else if let Some(at) = rest.find("\n---\n") {
            (&rest[..=at], &rest[at + 5..])
        } else if let Some(front) = rest.strip_suffix("\n---") {
            (front, "")
        } else {
            let message = "the closing `---` line is missing".to_owned();
            return Err(FrontMatterError { message, line: 1 });
        };
        Ok(Self { front: FrontMatter::parse(front)?, body: body.trim_start_matches('\n').to_owned() })
    }

    pub fn render(&self) -> String {
        let body = self.body.trim_end();
        let gap = if body.is_empty() { "" } else { "\n" };
        let end = if body.is_empty() { "" } else { "\n" };
        format!("---\n{}---\n{gap}{body}{end}", self.front.render())
    }

    /// What it is for, on one line.
    pub fn description(&self) -> String {
        one_line(&self.front.text("description").unwrap_or_default(), DESCRIPTION_CHARS_MAX)
    }

    /// Its tags, each on one line.
    pub fn tags(&self) -> Vec<String> {
        let tags = self.front.texts("tags").into_iter().take(TAGS_MAX);
        tags.map(|tag| one_line(&tag, TAG_CHARS_MAX)).filter(|tag| !tag.is_empty()).collect()
    }

    fn is_described_by(&self, name: &SkillName, facts: Option<&CodeFacts>) -> bool {
        facts.is_some_and(|facts| described_by(name, facts) == self.description())
    }

    /// Brings it up to date for a new version: what we know is set, everything else stays. `before`
    /// is what the code said about itself when this file was written.
    pub fn renewed(
        mut self,
        name: &SkillName,
        version: i64,
        said: &Described,
        facts: &CodeFacts,
        before: Option<&CodeFacts>,
    ) -> Self {
        let is_generated = self.body.trim().is_empty()
            || before.is_some_and(|before| usage(name, before).trim() == self.body.trim());
        let description = match said.description.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            Some(said) => one_line(said, DESCRIPTION_CHARS_MAX),
            // One that was taken from the code before follows the code.
            None if self.is_described_by(name, before) => described_by(name, facts),
            None if !self.description().is_empty() => self.description(),
            None => described_by(name, facts),
        };
        let tags = match &said.tags {
            Some(tags) => clean_tags(tags),
            None => self.tags(),
        };
        let parameters = facts.main_function(name.as_str()).map(shown_parameters);
        let tools = facts.tools.iter().map(|tool| tool.name.as_str());
        let front = &mut self.front;
        front.set("name", json!(name.as_str()));
        front.set("description", json!(description));
        front.set("version", json!(version));
        front.set("language", json!(facts.language.as_str()));
        front.set("parameters", json!(parameters.unwrap_or_default()));
        front.set("tools", tools.collect::<Value>());
        front.set("tags", json!(tags));
        if is_generated {
            self.body = usage(name, facts);
        }
        self
    }
}

/// Each on one line, none twice.
fn clean_tags(tags: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags.iter().take(TAGS_MAX).map(|tag| one_line(tag, TAG_CHARS_MAX)) {
        if !tag.is_empty() && !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    kept
}

/// What the code says it is for, on one line: the docstring of the module, or of the function that is
/// meant to be used.
pub fn described_by(name: &SkillName, facts: &CodeFacts) -> String {
    let function = facts.main_function(name.as_str()).map(|function| function.doc.as_str());
    let texts = [Some(facts.doc.as_str()), function];
    let doc = texts.into_iter().flatten().find(|text| !text.trim().is_empty());
    one_line(&first_sentence(doc.unwrap_or_default()), DESCRIPTION_CHARS_MAX)
}

fn shown_parameters(function: &FunctionFact) -> Vec<String> {
    function.parameters.iter().map(|text| one_line(text, PARAMETER_CHARS_MAX)).collect()
}

/// How it is imported and called, on one line.
pub fn usage_line(name: &str, facts: &CodeFacts) -> String {
    match facts.main_function(name) {
        Some(function) => {
            format!(
                "{}; {}",
                import_of(name, facts.language, &[function]),
                call(name, facts.language, function)
            )
        }
        None => import_of(name, facts.language, &[]),
    }
}

/// What imports these functions; all of it, if there are none.
fn import_of(name: &str, language: SkillLanguage, functions: &[&FunctionFact]) -> String {
    let is_default = |function: &&FunctionFact| function.name == DEFAULT_EXPORT;
    let named =
        functions.iter().filter(|function| language == SkillLanguage::Python || !is_default(function));
    let named = named.map(|function| function.name.as_str()).collect::<Vec<_>>().join(", ");
    match (language, functions.iter().any(is_default), named.is_empty()) {
        (SkillLanguage::Python, _, true) => format!("import skills.{name}"),
        (SkillLanguage::Python, _, false) => format!("from skills.{name} import {named}"),
        (SkillLanguage::TypeScript, false, true) => format!("import * as {name} from \"skills/{name}\""),
        (SkillLanguage::TypeScript, false, false) => {
            format!("import {{ {named} }} from \"skills/{name}\"")
        }
        (SkillLanguage::TypeScript, true, true) => format!("import {name} from \"skills/{name}\""),
        (SkillLanguage::TypeScript, true, false) => {
            format!("import {name}, {{ {named} }} from \"skills/{name}\"")
        }
    }
}

fn call(name: &str, language: SkillLanguage, function: &FunctionFact) -> String {
    let waits = if function.is_async { "await " } else { "" };
    let called = match language {
        SkillLanguage::TypeScript if function.name == DEFAULT_EXPORT => name,
        SkillLanguage::TypeScript | SkillLanguage::Python => &function.name,
    };
    format!("{waits}{called}({})", shown_parameters(function).join(", "))
}

/// The body of a file that nobody wrote.
fn usage(name: &SkillName, facts: &CodeFacts) -> String {
    let mut text = format!("# {name}\n");
    let shown = &facts.functions[..facts.functions.len().min(FUNCTIONS_SHOWN_MAX)];
    let import = import_of(name.as_str(), facts.language, &shown.iter().collect::<Vec<_>>());
    text.push_str(&format!("\n```{}\n{import}\n```\n", facts.language.as_str()));
    for function in shown {
        text.push_str(&format!("\n- `{}`", call(name.as_str(), facts.language, function).replace('`', "'")));
        let doc = one_line(&first_sentence(&function.doc), DESCRIPTION_CHARS_MAX);
        if !doc.is_empty() {
            text.push_str(&format!(": {doc}"));
        }
    }
    if !shown.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(doc: &str) -> CodeFacts {
        let function = FunctionFact {
            name: "keep_open".to_owned(),
            parameters: vec!["rows".to_owned(), "limit: int = 10".to_owned()],
            doc: doc.to_owned(),
            is_async: true,
        };
        CodeFacts { functions: vec![function], ..CodeFacts::default() }
    }

    fn name() -> SkillName {
        SkillName::new("orders_kept").expect("a name")
    }

    #[test]
    fn a_file_is_made_of_the_docstring() {
        let said = Described::default();
        let made =
            SkillMd::default().renewed(&name(), 1, &said, &facts("Keeps what is open. And more."), None);
        assert_eq!(
            made.render(),
            "---\nname: orders_kept\ndescription: Keeps what is open.\nversion: 1\nlanguage: python\nparameters:\n  \
             - rows\n  - \"limit: int = 10\"\n---\n\n# orders_kept\n\n```python\nfrom skills.orders_kept import \
             keep_open\n```\n\n- `await keep_open(rows, limit: int = 10)`: Keeps what is open.\n"
        );
        assert_eq!(SkillMd::parse(&made.render()).expect("its own text"), made);
    }

    #[test]
    fn a_skill_in_typescript_says_so_and_how_it_is_imported() {
        let mut facts = facts("Keeps what is open.");
        facts.language = SkillLanguage::TypeScript;
        facts.functions[0].name = "ordersKept".to_owned();
        facts.functions.push(FunctionFact { name: DEFAULT_EXPORT.to_owned(), ..FunctionFact::default() });
        let made = SkillMd::default().renewed(&name(), 1, &Described::default(), &facts, None).render();
        assert!(made.contains("language: typescript\n"), "{made}");
        assert!(
            made.contains(
                "```typescript\nimport orders_kept, { ordersKept } from \"skills/orders_kept\"\n```\n"
            ),
            "{made}"
        );
        assert!(made.ends_with("Keeps what is open.\n- `orders_kept()`\n"), "{made}");
        assert_eq!(
            usage_line("orders_kept", &facts),
            "import { ordersKept } from \"skills/orders_kept\"; await ordersKept(rows, limit: int = 10)"
        );
        facts.functions.clear();
        assert_eq!(usage_line("orders_kept", &facts), "import * as orders_kept from \"skills/orders_kept\"");
    }

    #[test]
    fn words_of_people_stay_and_generated_ones_are_renewed() {
        let (before, after) = (facts("Old."), facts("New."));
        let said = Described::default();
        let made = SkillMd::default().renewed(&name(), 1, &said, &before, None);
        let renewed = made.renewed(&name(), 2, &said, &after, Some(&before));
        assert!(renewed.body.contains("New."), "{}", renewed.body);
        assert_eq!(renewed.description(), "New.");
        let own = SkillMd::parse("---\ndescription: Mine\nlicense: MIT\n---\n\nRead me.\n").expect("a file");
        let tags = Some(vec!["b".to_owned(), "a\nb".to_owned(), "b".to_owned()]);
        let renewed = own.renewed(&name(), 3, &Described { tags, description: None }, &after, Some(&before));
        assert_eq!(renewed.body, "Read me.\n");
        assert_eq!(
            (renewed.description(), renewed.tags()),
            ("Mine".to_owned(), vec!["b".to_owned(), "a b".to_owned()])
        );
        assert!(renewed.render().contains("license: MIT\n"), "{}", renewed.render());
    }

    #[test]
    fn a_description_cannot_break_out_of_its_line() {
        let said =
            Described { description: Some("x\n---\nname: other\u{202e}\u{1b}[2J".to_owned()), tags: None };
        let made = SkillMd::default().renewed(&name(), 1, &said, &facts(""), None);
        let read = SkillMd::parse(&made.render()).expect("its own text");
        assert_eq!(read.front.text("name").as_deref(), Some("orders_kept"));
        assert!(!read.render().contains(['\u{202e}', '\u{1b}']), "{}", read.render());
    }

    #[test]
    fn front_matter_without_an_end_is_told() {
        assert!(
            SkillMd::parse("---\nname: x\n").expect_err("no end").to_string().contains("closing `---` line")
        );
        assert_eq!(SkillMd::parse("---\n---\nx").expect("empty").body, "x");
        assert_eq!(SkillMd::parse("# just words").expect("a body").body, "# just words");
    }
}
