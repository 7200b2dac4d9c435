//! What a server lists, page by page: each definition as it was written, within bounds.

use std::borrow::Cow;
use std::collections::HashMap;

use gristmill_gateway::upstream::UpstreamFailure;
use serde_json::value::RawValue;

/// Pages of a list; more are a loop.
pub(crate) const PAGES_MAX: usize = 100;

/// One kind of list.
#[derive(Clone, Copy)]
pub(crate) struct List {
    pub method: &'static str,
    /// The member of the result that is the list.
    key: &'static str,
    /// What it is a list of, in a message.
    pub things: &'static str,
    /// More are a mistake or an attack.
    things_max: usize,
    bytes_max: usize,
    /// Whether a longer list is taken as far as it fits. A list of tools is whole or it is none.
    is_cut: bool,
}

pub(crate) const TOOLS: List = List {
    method: "tools/list",
    key: "tools",
    things: "tools",
    things_max: 5000,
    bytes_max: 32 * 1024 * 1024,
    is_cut: false,
};

pub(crate) const RESOURCES: List = List {
    method: "resources/list",
    key: "resources",
    things: "resources",
    things_max: 2000,
    bytes_max: 4 * 1024 * 1024,
    is_cut: true,
};

pub(crate) const RESOURCE_TEMPLATES: List = List {
    method: "resources/templates/list",
    key: "resourceTemplates",
    things: "resource templates",
    ..RESOURCES
};

pub(crate) const PROMPTS: List =
    List { method: "prompts/list", key: "prompts", things: "prompts", ..RESOURCES };

/// What has been read of a list.
pub(crate) struct Listed {
    list: List,
    pub things: Vec<String>,
    bytes: usize,
    cursor: Option<String>,
}

impl Listed {
    pub(crate) fn new(list: List) -> Self {
        Self { list, things: Vec::new(), bytes: 0, cursor: None }
    }

    /// Takes one page. Where the next one is, if there is one.
    pub(crate) fn take(&mut self, raw: &str) -> Result<Option<String>, UpstreamFailure> {
        let List { key, things, things_max, bytes_max, is_cut, .. } = self.list;
        let unreadable =
            |why: String| UpstreamFailure::BadAnswer(format!("can't read its list of {things}: {why}"));
        let page: HashMap<Cow<'_, str>, &RawValue> =
            serde_json::from_str(raw).map_err(|error| unreadable(error.to_string()))?;
        let listed = page.get(key).ok_or_else(|| unreadable(format!("missing field `{key}`")))?;
        let listed: Vec<&RawValue> =
            serde_json::from_str(listed.get()).map_err(|error| unreadable(error.to_string()))?;
        self.bytes += raw.len();
        let fits = self.things.len() + listed.len() <= things_max && self.bytes <= bytes_max;
        if !fits && !is_cut {
            return Err(UpstreamFailure::BadAnswer(format!(
                "it lists more than {things_max} {things}, or {bytes_max} bytes of them"
            )));
        }
        if !fits && self.bytes > bytes_max {
            return Ok(None);
        }
        let room = things_max - self.things.len();
        self.things.extend(listed.iter().take(room).map(|thing| thing.get().to_owned()));
        if !fits {
            return Ok(None);
        }
        let next = match page.get("nextCursor") {
            Some(cursor) => serde_json::from_str::<Option<String>>(cursor.get())
                .map_err(|error| unreadable(error.to_string()))?,
            None => None,
        };
        // Some servers give the last cursor again and again.
        let next = next.filter(|next| !next.is_empty() && self.cursor.as_ref() != Some(next));
        self.cursor.clone_from(&next);
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(key: &str, names: std::ops::Range<usize>) -> String {
        let things: Vec<usize> = names.collect();
        json!({ key: things, "nextCursor": "more" }).to_string()
    }

    #[test]
    fn a_list_of_resources_that_is_too_long_is_cut() {
        let mut listed = Listed::new(RESOURCES);
        assert_eq!(listed.take(&page("resources", 0..1500)), Ok(Some("more".to_owned())));
        assert_eq!(listed.take(&page("resources", 1500..3000)), Ok(None));
        assert_eq!((listed.things.len(), listed.things[1999].as_str()), (2000, "1999"));
        let mut listed = Listed::new(PROMPTS);
        let large = json!({ "prompts": ["x".repeat(5 * 1024 * 1024)], "nextCursor": "more" }).to_string();
        assert_eq!((listed.take(&large), listed.things.len()), (Ok(None), 0));
    }

    #[test]
    fn a_list_of_tools_that_is_too_long_is_none() {
        let mut listed = Listed::new(TOOLS);
        let why = "it lists more than 5000 tools, or 33554432 bytes of them".to_owned();
        assert_eq!(listed.take(&page("tools", 0..5001)), Err(UpstreamFailure::BadAnswer(why)));
    }

    #[test]
    fn a_list_that_is_none_is_told() {
        let check = |raw: &str, why: &str| {
            let why = format!("can't read its list of prompts: {why}");
            assert_eq!(Listed::new(PROMPTS).take(raw), Err(UpstreamFailure::BadAnswer(why)), "{raw}");
        };
        check("{}", "missing field `prompts`");
        check(r#"{"prompts":{}}"#, "invalid type: map, expected a sequence at line 1 column 0");
        check(
            r#"{"prompts":[],"nextCursor":7}"#,
            "invalid type: integer `7`, expected a string at line 1 column 1",
        );
    }
}
