//! The words that the rules know. Whatever is in none of these lists must be accounted for by a tool.

/// Carry no meaning of their own.
const STOP: &[&str] = &[
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "by", "can",
    "could", "do", "does", "did", "every", "for", "from", "had", "has", "have", "having", "how", "i", "in",
    "into", "is", "it", "its", "let", "many", "me", "my", "of", "on", "our", "out", "over", "please", "so",
    "some", "that", "the", "their", "them", "there", "these", "they", "this", "those", "to", "up", "us",
    "was", "we", "were", "what", "where", "which", "who", "whose", "will", "with", "would", "you", "your",
    "want", "need", "know", "like",
];

/// Ask to see something. They name no operation of their own.
const SHOWING: &[&str] = &[
    "show", "list", "get", "give", "tell", "display", "fetch", "find", "print", "return", "see", "look",
    "what", "which",
];

/// Words that change what is meant and that no description may account for: times, negations, conditions.
const STRICT: &[&str] = &[
    "not",
    "no",
    "never",
    "none",
    "nothing",
    "without",
    "except",
    "unless",
    "only",
    "but",
    "or",
    "if",
    "than",
    "then",
    "else",
    "instead",
    "otherwise",
    "whether",
    "why",
    "when",
    "because",
    "should",
    "better",
    "best",
    "worst",
    "worse",
    "first",
    "last",
    "next",
    "previous",
    "past",
    "coming",
    "ago",
    "since",
    "until",
    "before",
    "after",
    "during",
    "today",
    "tomorrow",
    "yesterday",
    "tonight",
    "morning",
    "evening",
    "week",
    "weekend",
    "month",
    "quarter",
    "year",
    "hour",
    "minute",
    "per",
    "each",
    "both",
    "either",
    "neither",
    "most",
    "least",
    "more",
    "less",
    "fewer",
    "few",
    "above",
    "below",
    "under",
    "between",
    "top",
    "bottom",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "half",
    "double",
    "twice",
    "again",
    "also",
    "too",
    "same",
    "other",
    "another",
    "different",
    "everything",
    "unique",
    "distinct",
];

/// Change something. Only the name of a tool accounts for them.
const WRITING: &[&str] = &[
    "add", "append", "archive", "assign", "book", "buy", "cancel", "change", "clear", "close", "copy",
    "create", "delete", "disable", "drop", "edit", "email", "enable", "insert", "install", "invite", "kill",
    "make", "merge", "move", "notify", "open", "order", "pay", "post", "publish", "put", "remove", "rename",
    "replace", "reply", "reset", "restart", "save", "send", "set", "share", "start", "stop", "update",
    "write",
];

/// Politeness before the verb.
const BEFORE_THE_VERB: &[&str] =
    &["please", "can", "could", "you", "would", "i", "want", "to", "like", "need", "me", "we", "let", "us"];

/// Numbers in words.
const NUMBERS: &[(&str, u32)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
    ("hundred", 100),
];

/// Which end of an order is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

/// An adjective that stands for a measure: three forms, the measures in order, and its end of them. One
/// without a measure takes the noun after it.
pub struct Adjective {
    pub forms: [&'static str; 3],
    pub measures: &'static [&'static str],
    pub direction: Direction,
}

const fn up(forms: [&'static str; 3], measures: &'static [&'static str]) -> Adjective {
    Adjective { forms, measures, direction: Direction::Up }
}

const fn down(forms: [&'static str; 3], measures: &'static [&'static str]) -> Adjective {
    Adjective { forms, measures, direction: Direction::Down }
}

const ADJECTIVES: &[Adjective] = &[
    up(["big", "bigger", "biggest"], &["size"]),
    up(["large", "larger", "largest"], &["size"]),
    down(["small", "smaller", "smallest"], &["size"]),
    up(["long", "longer", "longest"], &["length", "duration", "words"]),
    down(["short", "shorter", "shortest"], &["length", "duration", "words"]),
    up(["warm", "warmer", "warmest"], &["temperature"]),
    up(["hot", "hotter", "hottest"], &["temperature"]),
    down(["cold", "colder", "coldest"], &["temperature"]),
    down(["cool", "cooler", "coolest"], &["temperature"]),
    up(["windy", "windier", "windiest"], &["wind"]),
    up(["humid", "-", "-"], &["humidity"]),
    up(["wet", "wetter", "wettest"], &["precipitation"]),
    up(["expensive", "-", "-"], &["price", "cost"]),
    down(["cheap", "cheaper", "cheapest"], &["price", "cost"]),
    up(["heavy", "heavier", "heaviest"], &["weight", "mass"]),
    up(["tall", "taller", "tallest"], &["height"]),
    up(["old", "older", "oldest"], &["age"]),
    down(["young", "younger", "youngest"], &["age"]),
    up(["fast", "faster", "fastest"], &["speed"]),
    down(["slow", "slower", "slowest"], &["speed"]),
    up(["far", "farther", "farthest"], &["distance"]),
    up(["high", "higher", "highest"], &[]),
    up(["great", "greater", "greatest"], &[]),
    up(["-", "-", "most"], &[]),
    up(["-", "-", "maximum"], &[]),
    down(["low", "lower", "lowest"], &[]),
    down(["-", "-", "least"], &[]),
    down(["-", "fewer", "fewest"], &[]),
];

pub fn is_stop(lower: &str) -> bool {
    STOP.contains(&lower)
}

pub fn is_showing(lower: &str) -> bool {
    SHOWING.contains(&lower)
}

/// Whether only an operation or an argument may account for the word.
pub fn is_strict(lower: &str) -> bool {
    let singular = lower.strip_suffix('s').unwrap_or(lower);
    STRICT.contains(&lower)
        || STRICT.contains(&singular)
        || lower.contains("n't")
        || number(lower).is_some()
        || adjective(lower).is_some()
}

pub fn is_writing(lower: &str) -> bool {
    WRITING.contains(&lower)
}

pub fn is_before_the_verb(lower: &str) -> bool {
    BEFORE_THE_VERB.contains(&lower)
}

/// What a number word means.
pub fn number(lower: &str) -> Option<u32> {
    NUMBERS.iter().find(|(word, _)| *word == lower).map(|(_, number)| *number)
}

/// The adjective of this word, in any of its forms.
pub fn adjective(lower: &str) -> Option<&'static Adjective> {
    if lower == "-" {
        return None;
    }
    ADJECTIVES.iter().find(|adjective| adjective.forms.contains(&lower))
}

/// The adjective whose superlative this is.
pub fn superlative(lower: &str) -> Option<&'static Adjective> {
    adjective(lower).filter(|adjective| adjective.forms[2] == lower)
}

/// Whether a tool's words say that it looks ahead.
pub fn looks_ahead(stems: &[String]) -> bool {
    const AHEAD: [&str; 7] = ["forecast", "next", "upcom", "upcoming", "futur", "tomorrow", "ahead"];
    stems.iter().any(|stem| AHEAD.contains(&stem.as_str()))
}

/// Whether a tool's words say that it looks back.
pub fn looks_back(stems: &[String]) -> bool {
    const BACK: [&str; 8] = ["past", "last", "previou", "previous", "back", "ago", "history", "recent"];
    stems.iter().any(|stem| BACK.contains(&stem.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_both_neutral_and_strict() {
        for word in STOP.iter().chain(SHOWING) {
            assert!(!is_strict(word), "{word}");
            assert!(!is_writing(word), "{word}");
        }
    }
}
