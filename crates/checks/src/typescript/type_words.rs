//! The words of a type checker: which types it talks about, and how sure that makes us.

/// Between the parts of the names that our declarations have.
const BETWEEN: &str = "__";

/// How two types that don't fit are told.
const MISMATCHES: [&str; 2] = ["' is not assignable to ", "' has no properties in common with type '"];

/// What a type is, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Text,
    Number,
    Truth,
    List,
    Promise,
    Other,
}

impl Source {
    pub fn of(kind: &str) -> Self {
        match kind {
            "string" => Source::Text,
            "number" => Source::Number,
            "boolean" | "true" | "false" => Source::Truth,
            _ if kind.contains(" | ") => Source::of_union(kind),
            _ if is_text(kind) => Source::Text,
            _ if kind.parse::<f64>().is_ok() => Source::Number,
            _ if kind.starts_with("Promise<") && kind.ends_with('>') => Source::Promise,
            _ if kind.ends_with("[]") && !kind.starts_with("readonly ") => Source::List,
            _ => Source::Other,
        }
    }

    /// Values of one kind are of that kind; of others nobody knows which one comes.
    fn of_union(kind: &str) -> Self {
        if kind.contains(['{', '<', '(', '[']) {
            return Source::Other;
        }
        let mut kinds = kind.split(" | ").map(Source::of);
        match kinds.next() {
            Some(first) if kinds.all(|other| other == first) => first,
            Some(_) | None => Source::Other,
        }
    }
}

fn is_text(kind: &str) -> bool {
    kind.len() >= 2 && kind.starts_with('"') && kind.ends_with('"')
}

/// `Type 'given' is not assignable to type 'wanted'.`, where it is said most exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub given: String,
    pub wanted: String,
    /// From the place of the error to the value.
    pub path: Vec<String>,
}

impl Mismatch {
    /// `None` if the words don't say which value doesn't fit.
    pub fn of(message: &str) -> Option<Self> {
        let mut found = None;
        let mut path = Vec::new();
        let mut is_deeper = true;
        for line in message.lines().map(str::trim) {
            let parts = quoted(line);
            if line.starts_with("Types of property '") {
                path.extend(parts.first().map(|name| (*name).to_owned()));
                is_deeper = true;
            } else if MISMATCHES.iter().any(|words| line.contains(words)) && parts.len() >= 2 {
                // What follows about the same value is about one part of it: others may fit.
                if is_deeper {
                    found = Some((parts[0].to_owned(), parts[1].to_owned()));
                }
                is_deeper = false;
            } else if line.starts_with("Property '") || line.contains("ndex signature") {
                // Names are told elsewhere, and the door takes other spellings.
                return None;
            }
        }
        let (given, wanted) = found?;
        // Dates, maps, sets and the like become JSON that may fit.
        let is_plain = Source::of(&given) != Source::Other || given.contains(" | ") || given.starts_with('{');
        is_plain.then_some(Self { given, wanted, path })
    }

    pub fn source(&self) -> Source {
        Source::of(&self.given)
    }

    /// Whether no value of the one type fits the other.
    pub fn is_certain(&self) -> bool {
        let wanted = self.wanted.replace(" | ", "|").replace("readonly ", "");
        if wanted.contains([' ', '&', '?']) || wanted == "never" {
            return false;
        }
        match self.source() {
            Source::Text | Source::Number | Source::Truth | Source::Promise => true,
            // An empty one fits any other list.
            Source::List => !self.wanted.contains("[]") && !self.wanted.contains("Array<"),
            Source::Other => false,
        }
    }
}

/// What stands in single quotes. A type may have quotes in it: what ends one is followed by a blank or a sign.
pub(super) fn quoted(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = message;
    while let Some(open) = rest.find('\'') {
        let inner = &rest[open + 1..];
        let is_end =
            |at: usize| matches!(inner[at + 1..].chars().next(), None | Some(' ' | '.' | ',' | '?' | '\n'));
        let Some((close, _)) = inner.match_indices('\'').find(|(at, _)| is_end(*at)) else { break };
        found.push(&inner[..close]);
        rest = &inner[close + 1..];
    }
    found
}

/// `Did you mean 'title'?`
pub(super) fn suggestion(message: &str) -> Option<&str> {
    let (_, after) = message.split_once("Did you mean ")?;
    let after = after.strip_prefix("to write ").unwrap_or(after);
    quoted(after).first().copied()
}

/// The tool whose answer a declared type is of: `crm__get_record__Row` is `crm.get_record`'s.
pub(super) fn declaring_tool(kind: &str) -> Option<String> {
    let is_name = kind.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
    let mut parts = kind.splitn(3, BETWEEN);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(server), Some(tool), Some(_)) if is_name => Some(format!("{server}.{tool}")),
        _ => None,
    }
}

/// A type without the parts that our declarations put before its name.
pub(super) fn plain(kind: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let mut made = String::with_capacity(kind.len());
    let mut rest = kind;
    while let Some(from) = rest.find(is_part) {
        let word = &rest[from..];
        let end = word.find(|c| !is_part(c)).unwrap_or(word.len());
        made.push_str(&rest[..from]);
        made.push_str(word[..end].rsplit(BETWEEN).next().unwrap_or_default());
        rest = &word[end..];
    }
    made.push_str(rest);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_is_read_where_it_is_said_most_exactly() {
        let message = "Argument of type '{ filter: { field: number; }; }' is not assignable to parameter of type 'crm__get__Arguments'.\n  Types of property 'filter' are incompatible.\n    Types of property 'field' are incompatible.\n      Type 'number' is not assignable to type 'string'.";
        let found = Mismatch::of(message).expect("one");
        assert_eq!((found.given.as_str(), found.wanted.as_str()), ("number", "string"));
        assert_eq!(found.path, ["filter", "field"]);
        assert!(found.is_certain());
    }

    #[test]
    fn what_may_fit_is_not_certain() {
        let check = |given: &str, wanted: &str, expected: Option<bool>| {
            let message = format!("Type '{given}' is not assignable to type '{wanted}'.");
            assert_eq!(Mismatch::of(&message).map(|found| found.is_certain()), expected, "{message}");
        };
        check("number", "string", Some(true));
        check("\"a\"", "number", Some(true));
        check("\"a\" | \"b\"", "number", Some(true));
        check("string | number", "string", Some(false));
        check("Promise<any>", "string", Some(true));
        check("number[]", "string", Some(true));
        check("any[]", "readonly string[]", Some(false));
        check("Date", "string", None);
        check("Set<string>", "readonly string[]", None);
        check("{ a: number; }", "string", Some(false));
        check("number", "string | boolean", Some(true));
        check("number", "readonly string[]", Some(true));
        check("string | number", "string'.\n  Type 'number' is not assignable to type 'string", Some(false));
        check(
            "number[]",
            "readonly string[]'.\n  Type 'number' is not assignable to type 'string",
            Some(false),
        );
    }

    #[test]
    fn names_of_declarations_are_not_shown() {
        assert_eq!(plain("crm__get_record__Row[] | null"), "Row[] | null");
        assert_eq!(declaring_tool("crm__get_record__Row").as_deref(), Some("crm.get_record"));
        assert_eq!(declaring_tool("Row"), None);
        assert_eq!(suggestion("Cannot find name 'totls'. Did you mean 'totals'?"), Some("totals"));
        assert_eq!(quoted("Type '\"it's\"' is not assignable to type 'number'."), ["\"it's\"", "number"]);
    }
}
