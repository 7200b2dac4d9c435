//! What a caller asks for.

/// How much of each tool is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// `server.tool` and nothing else.
    Names,
    /// The signature and one sentence.
    #[default]
    Summary,
    /// The signature, the whole description and every parameter.
    Full,
}

/// What a caller asks for. An empty text browses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What is wanted, in words; or a tool's name.
    pub text: String,
    /// Only these servers, in any spelling; all if empty.
    pub servers: Vec<String>,
    /// Only servers of this category.
    pub category: Option<String>,
    /// How much of each tool is told.
    pub detail: Detail,
    /// How many at most.
    pub limit: usize,
    /// How many of the best are left out: those of earlier pages.
    pub offset: usize,
}

/// Where nothing else is said.
pub const LIMIT_DEFAULT: usize = 10;

/// More would not fit any budget.
pub const LIMIT_MAX: usize = 500;

impl Default for Query {
    fn default() -> Self {
        Self {
            text: String::new(),
            servers: Vec::new(),
            category: None,
            detail: Detail::default(),
            limit: LIMIT_DEFAULT,
            offset: 0,
        }
    }
}

impl Query {
    /// Those words, and nothing else said.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// A filter that fits nothing. Nothing was searched; the same query without it works.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SearchError {
    #[error("there is no server `{name}`; {}", did_you_mean(nearest))]
    UnknownServer {
        /// As it was asked for.
        name: String,
        /// The closest names there are.
        nearest: Vec<String>,
    },
    /// No server has that category.
    #[error("no server has the category `{name}`; {}", known_categories(known))]
    UnknownCategory {
        /// As it was asked for.
        name: String,
        /// All categories there are.
        known: Vec<String>,
    },
}

fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() {
        "search with an empty query to list all servers".to_owned()
    } else {
        format!("did you mean {}?", quoted(nearest, " or "))
    }
}

fn known_categories(known: &[String]) -> String {
    if known.is_empty() {
        "no categories are configured; drop the filter".to_owned()
    } else {
        format!("there are {}", quoted(known, ", "))
    }
}

fn quoted(names: &[String], between: &str) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
}
