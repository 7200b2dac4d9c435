//! Names that a program can write, made from names that a server chose.

use std::collections::HashSet;

/// Longer than any sensible name, short enough for every file system.
const NAME_CHARS_MAX: usize = 100;

/// Words that are no name in Python or in TypeScript. Sorted.
const RESERVED: [&str; 84] = [
    "False",
    "None",
    "True",
    "abstract",
    "and",
    "any",
    "arguments",
    "as",
    "assert",
    "async",
    "await",
    "boolean",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "constructor",
    "continue",
    "debugger",
    "declare",
    "def",
    "default",
    "del",
    "delete",
    "do",
    "elif",
    "else",
    "enum",
    "eval",
    "except",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "from",
    "function",
    "get",
    "global",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "is",
    "lambda",
    "let",
    "match",
    "module",
    "namespace",
    "never",
    "new",
    "nonlocal",
    "not",
    "null",
    "number",
    "object",
    "or",
    "package",
    "pass",
    "private",
    "protected",
    "public",
    "raise",
    "readonly",
    "return",
    "set",
    "static",
    "string",
    "super",
    "switch",
    "symbol",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "unknown",
    "var",
    "void",
    "while",
];

/// The remaining words that end a sentence in one of the languages.
const RESERVED_TOO: [&str; 2] = ["with", "yield"];

/// A name with everything taken away in which two spellings may differ: `getDocument`,
/// `get_document` and `get-document` fold alike.
pub fn fold(name: &str) -> String {
    match name.is_ascii() {
        true => folded_ascii(name).map(char::from).collect(),
        false => folded(name).collect(),
    }
}

/// Whether two names fold alike.
pub fn folds_alike(one: &str, other: &str) -> bool {
    match one.is_ascii() && other.is_ascii() {
        true => folded_ascii(one).eq(folded_ascii(other)),
        false => folded(one).eq(folded(other)),
    }
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// The same for what nearly all names are made of.
fn folded_ascii(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
}

/// The name as an identifier of both languages: unchanged if it is one.
pub fn identifier(name: &str) -> String {
    let mut made: String = name
        .chars()
        .take(NAME_CHARS_MAX)
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
        .collect();
    if made.chars().all(|c| c == '_') {
        made = format!("tool_{}", short_hash(name));
    }
    if made.starts_with(|c: char| c.is_ascii_digit()) {
        made.insert(0, '_');
    }
    // A leading underscore pair is Python's own.
    while made.starts_with("__") {
        made.remove(0);
    }
    if is_reserved(&made) {
        made.push('_');
    }
    made
}

/// What programs call something of this name, if not by the name itself.
pub fn other_identifier(name: &str) -> Option<String> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.len() <= NAME_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !is_reserved(name);
    if is_plain {
        return None;
    }
    Some(identifier(name)).filter(|made| made != name)
}

/// How a program writes the module of a server's folder, such as `servers.git_hub`, if not by the
/// folder's own name.
pub fn import_name(folder: &str) -> Option<String> {
    let module = identifier(folder);
    (module != folder).then(|| format!("servers.{module}"))
}

/// A parameter's name as an identifier; what is sent is always the original.
pub fn parameter_identifier(name: &str) -> String {
    identifier(name)
}

fn is_reserved(word: &str) -> bool {
    RESERVED.binary_search(&word).is_ok() || RESERVED_TOO.contains(&word)
}

#[derive(Clone)]
pub(super) struct Assigned {
    pub stem: String,
    pub identifier: String,
}

/// Names for the members of one folder. `originals` are sorted and distinct; the result depends on
/// them alone.
///
/// Of several names that fold alike one keeps its spelling, an identifier if there is one, and the
/// others get a number: a program may write any spelling of a name, and a file system may ignore
/// case. No name that is made here is another's original.
pub(super) fn assign<'a>(originals: impl Iterator<Item = &'a str>) -> Vec<Assigned> {
    let originals: Vec<&str> = originals.collect();
    let mut taken: HashSet<String> = originals.iter().map(|name| fold(&identifier(name))).collect();
    let mut numbered = |identifier: &str| {
        (2..)
            .map(|number| format!("{}_{number}", identifier.trim_end_matches('_')))
            .find(|candidate| taken.insert(fold(candidate)))
            .unwrap_or_else(|| identifier.to_owned())
    };
    let mut first: HashSet<String> = HashSet::new();
    let mut assigned: Vec<(usize, Assigned)> = Vec::with_capacity(originals.len());
    let (plain, others): (Vec<usize>, Vec<usize>) =
        (0..originals.len()).partition(|place| identifier(originals[*place]) == originals[*place]);
    for place in plain.into_iter().chain(others) {
        let original = originals[place];
        let identifier = identifier(original);
        if !first.insert(fold(&identifier)) {
            let name = numbered(&identifier);
            assigned.push((place, Assigned { stem: name.clone(), identifier: name }));
            continue;
        }
        let stem = if is_file_name(original) { original.to_owned() } else { file_name(&identifier) };
        let is_anothers = stem != original && originals.binary_search(&stem.as_str()).is_ok();
        let stem = if is_anothers { numbered(&identifier) } else { stem };
        assigned.push((place, Assigned { stem, identifier }));
    }
    assigned.sort_by_key(|(place, _)| *place);
    assigned.into_iter().map(|(_, assigned)| assigned).collect()
}

/// Whether it can be a file's name everywhere, and reads as one word in a path.
fn is_file_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty()
        && name.len() <= NAME_CHARS_MAX
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !is_device(name)
        && fold(name) != "index"
}

/// The identifier, unless a file must not be called so.
fn file_name(identifier: &str) -> String {
    let is_kept = is_device(identifier) || fold(identifier) == "index";
    if is_kept { format!("{identifier}_") } else { identifier.to_owned() }
}

/// Names that one family of systems keeps for devices.
fn is_device(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let numbered = name.strip_prefix("com").or_else(|| name.strip_prefix("lpt"));
    matches!(name.as_str(), "con" | "prn" | "aux" | "nul")
        || numbered.is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
}

fn short_hash(name: &str) -> String {
    blake3::hash(name.as_bytes()).to_hex()[..8].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: &str) {
        assert_eq!(identifier(name), expected, "{name}");
    }

    #[test]
    fn names_become_identifiers_of_both_languages() {
        assert!(RESERVED.is_sorted());
        check("getDocument", "getDocument");
        check("get-document", "get_document");
        check("API-post-search", "API_post_search");
        check("browser.click", "browser_click");
        check("2fa", "_2fa");
        check("import", "import_");
        check("delete", "delete_");
        check("__init__", "_init__");
        check("Straße", "Stra_e");
        check("読む", &format!("tool_{}", short_hash("読む")));
        check("", &format!("tool_{}", short_hash("")));
    }

    #[test]
    fn names_fold_alike_whatever_their_letters() {
        let names = [
            "getDocument",
            "get_document",
            "GET-DOCUMENT",
            "get_documents",
            "Straße",
            "STRASSE",
            "straße",
            "İd",
            "",
            "__",
        ];
        for one in names {
            assert_eq!(fold(one), folded(one).collect::<String>(), "{one}");
            for other in names {
                assert_eq!(folds_alike(one, other), fold(one) == fold(other), "{one} {other}");
            }
        }
        assert!(folds_alike("getDocument", "get-document") && folds_alike("Straße", "straße"));
    }

    #[test]
    fn names_that_fold_alike_are_numbered_and_stay_apart() {
        let names = ["get-env", "getEnv", "getEnv2", "get_env"];
        let assigned: Vec<_> =
            assign(names.into_iter()).into_iter().map(|name| (name.stem, name.identifier)).collect();
        let pair = |stem: &str, identifier: &str| (stem.to_owned(), identifier.to_owned());
        assert_eq!(
            assigned,
            [
                pair("get_env_4", "get_env_4"),
                pair("getEnv", "getEnv"),
                pair("getEnv2", "getEnv2"),
                pair("get_env_3", "get_env_3"),
            ]
        );
    }

    #[test]
    fn a_stem_is_a_harmless_file_name() {
        for name in ["../../etc/passwd", "a/b", ".hidden", "con", "a b", "index", "x\0y", "nul"] {
            let assigned = assign([name].into_iter());
            let stem = &assigned[0].stem;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            assert!(stem.chars().all(plain) && !is_device(stem) && stem != "index", "{name} became {stem}");
        }
        for (name, stem) in
            [("google-drive", "google-drive"), ("index", "index_"), ("con", "con_"), ("_2", "_2")]
        {
            assert_eq!(assign([name].into_iter())[0].stem, stem);
        }
    }
}
