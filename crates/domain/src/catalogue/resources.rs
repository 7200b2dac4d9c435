//! Resources and prompts as their servers define them, read once and made safe to show: what a model
//! or a person sees of them is bounded and has nothing hidden in it.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::resource_uri::{self, URI_BYTES_MAX};
use crate::visible_text::one_line;

const NAME_CHARS_MAX: usize = 200;
const TITLE_CHARS_MAX: usize = 200;
const DESCRIPTION_CHARS_MAX: usize = 2_000;
const MIME_TYPE_CHARS_MAX: usize = 100;

/// What is sent as a name is sent as it is, or not at all.
const PROMPT_NAME_BYTES_MAX: usize = 200;

/// More than a person fills in.
const ARGUMENTS_MAX: usize = 50;

/// Far more than any definition has.
const DEFINITION_BYTES_MAX: usize = 64 * 1024;

/// Something that a server lets others read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The server's own URI.
    pub uri: String,
    pub about: About,
    /// In bytes.
    pub size: Option<u64>,
}

/// Resources of which a part of the URI is filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The server's own template.
    pub uri_template: String,
    pub about: About,
}

/// What a server says about a resource, safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// In the server's words.
    pub description: Option<String>,
    /// What kind of content it has.
    pub mime_type: Option<String>,
}

/// A text with gaps that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What is sent when it is asked for.
    pub name: String,
    /// A name for people, safe to show.
    pub title: Option<String>,
    /// In the server's words, safe to show.
    pub description: Option<String>,
    /// What is filled in.
    pub arguments: Vec<PromptArgument>,
}

/// A gap in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// What is sent with its value.
    pub name: String,
    /// A name for people, safe to show.
    pub title: Option<String>,
    /// In the server's words, safe to show.
    pub description: Option<String>,
    /// Whether it must be filled in.
    pub required: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawItem {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    uri_template: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    size: Option<Value>,
    #[serde(default)]
    arguments: Option<Vec<RawArgument>>,
}

#[derive(Deserialize)]
struct RawArgument {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    required: Option<bool>,
}

impl RawItem {
    fn read(text: &str) -> Option<Self> {
        if text.len() > DEFINITION_BYTES_MAX {
            return None;
        }
        // A list would be read as the fields in their order.
        text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok())?
    }

    fn about(&self, uri: &str) -> About {
        let name = self.name.as_deref().map(|name| one_line(name, NAME_CHARS_MAX));
        About {
            name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| one_line(uri, NAME_CHARS_MAX)),
            title: shown(self.title.as_deref(), TITLE_CHARS_MAX),
            description: shown(self.description.as_deref(), DESCRIPTION_CHARS_MAX),
            mime_type: shown(self.mime_type.as_deref(), MIME_TYPE_CHARS_MAX),
        }
    }
}

fn shown(text: Option<&str>, chars_max: usize) -> Option<String> {
    text.map(|text| one_line(text, chars_max)).filter(|text| !text.is_empty())
}

impl Resource {
    /// From an element of a `resources/list` result. `None` if it cannot be used.
    pub fn from_text(text: &str) -> Option<Self> {
        let written = RawItem::read(text)?;
        let uri = written.uri.clone().filter(|uri| is_usable(uri))?;
        Some(Self { about: written.about(&uri), size: written.size.and_then(|size| size.as_u64()), uri })
    }

    /// What of it is approved: its words, not its size or content, which are data.
    pub(super) fn pinned_value(&self) -> Value {
        Value::Object(self.about.members("uri", self.uri.clone()))
    }

    /// Its definition with our URI.
    pub fn to_value(&self, server: &str) -> Value {
        let uri = resource_uri::to_ours(server, &self.uri);
        let mut members = self.about.members("uri", uri);
        if let Some(size) = self.size {
            members.insert("size".to_owned(), size.into());
        }
        Value::Object(members)
    }
}

impl ResourceTemplate {
    /// From an element of a `resources/templates/list` result. `None` if it cannot be used.
    pub fn from_text(text: &str) -> Option<Self> {
        let written = RawItem::read(text)?;
        let uri_template = written.uri_template.clone().filter(|uri| is_usable(uri))?;
        Some(Self { about: written.about(&uri_template), uri_template })
    }

    /// What of it is approved.
    pub(super) fn pinned_value(&self) -> Value {
        Value::Object(self.about.members("uriTemplate", self.uri_template.clone()))
    }

    /// Its definition with our template.
    pub fn to_value(&self, server: &str) -> Value {
        let template = resource_uri::template_to_ours(server, &self.uri_template);
        Value::Object(self.about.members("uriTemplate", template))
    }
}

impl About {
    fn members(&self, key: &str, uri: String) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert(key.to_owned(), uri.into());
        members.insert("name".to_owned(), self.name.as_str().into());
        add(&mut members, "title", &self.title);
        add(&mut members, "description", &self.description);
        add(&mut members, "mimeType", &self.mime_type);
        members
    }
}

impl Prompt {
    /// From an element of a `prompts/list` result. `None` if it cannot be used: a name must be sent as
    /// it is, so that one that is too long or has something hidden in it is not offered.
    pub fn from_text(text: &str) -> Option<Self> {
        let written = RawItem::read(text)?;
        let name = written.name.filter(|name| is_plain_name(name))?;
        let arguments = written.arguments.unwrap_or_default().into_iter();
        let arguments = arguments.filter(|argument| is_plain_name(&argument.name)).take(ARGUMENTS_MAX);
        let arguments = arguments.map(|argument| PromptArgument {
            title: shown(argument.title.as_deref(), TITLE_CHARS_MAX),
            description: shown(argument.description.as_deref(), DESCRIPTION_CHARS_MAX),
            required: argument.required.unwrap_or(false),
            name: argument.name,
        });
        Some(Self {
            name,
            title: shown(written.title.as_deref(), TITLE_CHARS_MAX),
            description: shown(written.description.as_deref(), DESCRIPTION_CHARS_MAX),
            arguments: arguments.collect(),
        })
    }

    /// What of it is approved.
    pub(super) fn pinned_value(&self) -> Value {
        self.value_named(self.name.clone())
    }

    /// Its definition with our name.
    pub fn to_value(&self, server: &str) -> Value {
        self.value_named(self.full_name(server))
    }

    fn value_named(&self, name: String) -> Value {
        let mut members = Map::new();
        members.insert("name".to_owned(), name.into());
        add(&mut members, "title", &self.title);
        add(&mut members, "description", &self.description);
        if !self.arguments.is_empty() {
            let arguments = self.arguments.iter().map(|argument| {
                let mut members = Map::new();
                members.insert("name".to_owned(), argument.name.as_str().into());
                add(&mut members, "title", &argument.title);
                add(&mut members, "description", &argument.description);
                members.insert("required".to_owned(), argument.required.into());
                Value::Object(members)
            });
            members.insert("arguments".to_owned(), arguments.collect());
        }
        Value::Object(members)
    }

    /// The name under which we offer it.
    pub fn full_name(&self, server: &str) -> String {
        format!("{server}.{}", self.name)
    }
}

fn add(members: &mut Map<String, Value>, key: &str, text: &Option<String>) {
    if let Some(text) = text {
        members.insert(key.to_owned(), text.as_str().into());
    }
}

fn is_usable(uri: &str) -> bool {
    !uri.is_empty() && uri.len() <= URI_BYTES_MAX
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= PROMPT_NAME_BYTES_MAX && crate::visible_text::visible(name) == name
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_resource_keeps_what_is_known_of_it_under_our_uri() {
        let raw = json!({
            "uri": "file:///a b.txt", "name": "notes", "title": "My\n notes", "description": "All\u{202e} of them",
            "mimeType": "text/plain", "size": 12, "_meta": { "x": 1 }, "icons": [],
        });
        let resource = Resource::from_text(&raw.to_string()).expect("a resource");
        let expected = json!({
            "uri": "gristmill://files/file%3A%2F%2F%2Fa%20b.txt", "name": "notes", "title": "My notes",
            "description": "All\\u{202e} of them", "mimeType": "text/plain", "size": 12,
        });
        assert_eq!(resource.to_value("files"), expected);
    }

    #[test]
    fn a_template_keeps_its_expressions() {
        let raw = json!({ "uriTemplate": "db://{table}", "name": "" }).to_string();
        let template = ResourceTemplate::from_text(&raw).expect("a template");
        let expected = json!({ "uriTemplate": "gristmill://db/db%3A%2F%2F{table}", "name": "db://{table}" });
        assert_eq!(template.to_value("db"), expected);
    }

    #[test]
    fn a_prompt_has_our_name_and_its_arguments() {
        let raw = json!({
            "name": "review", "description": "Looks at code",
            "arguments": [
                { "name": "code", "description": "The\ncode", "required": true },
                { "name": "style", "title": "Style" },
                { "name": "hid\u{200b}den" },
            ],
        });
        let prompt = Prompt::from_text(&raw.to_string()).expect("a prompt");
        let expected = json!({
            "name": "git.review", "description": "Looks at code",
            "arguments": [
                { "name": "code", "description": "The code", "required": true },
                { "name": "style", "title": "Style", "required": false },
            ],
        });
        assert_eq!(prompt.to_value("git"), expected);
    }

    #[test]
    fn what_cannot_be_used_is_left_out() {
        for text in ["", "7", "[]", "{}", r#"["file:///a"]"#, r#"{"uri":7}"#, r#"{"uri":""}"#] {
            assert_eq!(Resource::from_text(text), None, "{text}");
            assert_eq!(ResourceTemplate::from_text(text), None, "{text}");
            assert_eq!(Prompt::from_text(text), None, "{text}");
        }
        let long = json!({ "uri": format!("x:{}", "x".repeat(9000)) }).to_string();
        assert_eq!(Resource::from_text(&long), None);
        let large = json!({ "uri": "x:y", "_meta": "x".repeat(70_000) }).to_string();
        assert_eq!(Resource::from_text(&large), None);
        assert_eq!(Prompt::from_text(r#"{"name":"a\nb"}"#), None);
    }

    #[test]
    fn long_words_are_cut() {
        let raw = json!({ "uri": "x:y", "name": "n".repeat(500), "description": "d".repeat(5000) });
        let about = Resource::from_text(&raw.to_string()).expect("a resource").about;
        let lengths = (about.name.chars().count(), about.description.map(|text| text.chars().count()));
        assert_eq!(lengths, (201, Some(2001)));
    }
}
