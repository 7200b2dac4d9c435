//! Words made comparable: lower case, without endings, and names split into their words.

/// The longest word that is looked at.
const WORD_CHARS_MAX: usize = 40;
/// Words of one text.
const WORDS_MAX: usize = 200;
/// Characters of one text.
const TEXT_CHARS_MAX: usize = 4_000;

/// `cities` and `city`, `named` and `name` are the same.
pub fn stem(word: &str) -> String {
    let lower: String = word.to_lowercase().chars().take(WORD_CHARS_MAX).collect();
    let singular = singular(&lower);
    match singular.as_str() {
        "daily" => return "day".to_owned(),
        "current" | "currently" | "moment" | "present" => return "now".to_owned(),
        "directory" => return "folder".to_owned(),
        "maximum" | "maximal" => return "max".to_owned(),
        "minimum" | "minimal" => return "min".to_owned(),
        "average" | "avg" => return "mean".to_owned(),
        "rainfall" => return "rain".to_owned(),
        _ => {}
    }
    without_ending(&singular)
}

fn singular(word: &str) -> String {
    let cut = |by: usize| word[..word.len() - by].to_owned();
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    if word.ends_with("ies") {
        return cut(3) + "y";
    }
    if ["ches", "shes", "xes", "sses"].iter().any(|ending| word.ends_with(ending)) {
        return cut(2);
    }
    let stays = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if word.ends_with('s') && !stays { cut(1) } else { word.to_owned() }
}

/// Leaves at least four letters, so that `note` never becomes `not`.
fn without_ending(word: &str) -> String {
    if !word.is_ascii() {
        return word.to_owned();
    }
    let mut rest = word;
    if let Some(shorter) = rest.strip_suffix("ing").filter(|shorter| shorter.len() >= 4) {
        rest = shorter;
    } else if rest.ends_with("ed") && rest.len() > 4 {
        rest = &rest[..rest.len() - 1];
    }
    match rest.strip_suffix('e').filter(|shorter| shorter.len() >= 4) {
        Some(shorter) => shorter.to_owned(),
        None => rest.to_owned(),
    }
}

/// The stems of a text, or of a name such as `temp_max_c` or `documentId`.
pub fn stems_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars().take(TEXT_CHARS_MAX) {
        let begins = c.is_uppercase() && was_lower;
        if (!c.is_alphanumeric() || begins) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.push(c);
        }
        was_lower = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.truncate(WORDS_MAX);
    words.iter().map(|word| stem(word)).collect()
}

/// Equal, or one is a usual short form of the other: `temp` of `temperature`.
pub fn is_short_form(short: &str, long: &str) -> bool {
    short.len() >= 3 && long.len() > short.len() && long.starts_with(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_do_not_matter_and_short_words_stay() {
        let check = |word: &str, expected: &str| assert_eq!(stem(word), expected, "{word}");
        check("Cities", "city");
        check("files", "file");
        check("named", "name");
        check("notes", "note");
        check("not", "not");
        check("matches", "match");
        check("documents", "document");
        check("address", "address");
        check("looks", "look");
        check("Übung", "übung");
    }

    #[test]
    fn names_are_split_into_their_words() {
        assert_eq!(stems_of("temp_max_c"), ["temp", "max", "c"]);
        assert_eq!(stems_of("documentId"), ["document", "id"]);
        assert_eq!(stems_of("Lists leads, page by page."), ["list", "lead", "page", "by", "page"]);
    }
}
