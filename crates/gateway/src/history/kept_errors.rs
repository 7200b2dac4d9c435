//! Words of failed calls, which may repeat what was sent: where a program's own error quotes them, what is
//! remembered of the call stands in their place.

use std::collections::HashMap;

use crate::report::ToolCalled;

/// Failed calls with words of their own. Beyond this nothing of an error's text is kept.
const CALLS_MAX: usize = 500;

/// Words shorter than this say nothing of what was sent.
const WORDS_BYTES_MIN: usize = 4;

/// How many characters of a call's words are looked for; what follows them goes as well.
const SOUGHT_CHARS: usize = 300;

/// Instead of a text of which nothing can be said.
const NOT_KEPT: &str = "not kept: too many calls failed";

/// What failed calls said, each with what is remembered instead.
pub(super) struct KeptErrors<'a> {
    /// The longest words first: one may be part of another.
    words: Vec<(&'a str, &'a str)>,
    are_too_many: bool,
}

impl<'a> KeptErrors<'a> {
    pub fn of(calls: &'a [ToolCalled]) -> Self {
        let mut distinct: HashMap<&str, &str> = HashMap::new();
        for call in calls {
            let (Some(words), Some(kept)) = (call.error.as_deref(), call.kept_error.as_deref()) else {
                continue;
            };
            if words.len() >= WORDS_BYTES_MIN && words != kept {
                distinct.insert(words, kept);
            }
            if distinct.len() > CALLS_MAX {
                return Self { words: Vec::new(), are_too_many: true };
            }
        }
        let mut words: Vec<_> = distinct.into_iter().collect();
        words.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then(a.cmp(b)));
        Self { words, are_too_many: false }
    }

    /// The text with what is remembered of each call in place of its words. Words that were cut go with
    /// everything after them.
    pub fn in_place_of_words(&self, text: &str) -> String {
        if self.are_too_many {
            return NOT_KEPT.to_owned();
        }
        let mut text = text.to_owned();
        for (words, kept) in &self.words {
            match words.char_indices().nth(SOUGHT_CHARS) {
                None => text = text.replace(words, kept),
                Some((end, _)) => {
                    if let Some(at) = text.find(&words[..end]) {
                        text.truncate(at);
                        text.push_str(kept);
                    }
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(words: &str, kept: &str) -> ToolCalled {
        let (error, kept_error) = (Some(words.to_owned()), Some(kept.to_owned()));
        ToolCalled { error, kept_error, ..ToolCalled::unanswered("a.b", None, 3) }
    }

    #[test]
    fn a_programs_error_quotes_no_call() {
        let long = format!("no {}", "sesame ".repeat(100));
        let calls = [failed("no sesame", "K1"), failed("no sesame here", "K2"), failed(&long, "K3")];
        let errors = KeptErrors::of(&calls);
        let check = |text: &str, expected: &str| assert_eq!(errors.in_place_of_words(text), expected);
        check("ToolError: no sesame here\n", "ToolError: K2\n");
        check("KeyError: 'x'", "KeyError: 'x'");
        check(&format!("before {long} and more sesame"), "before K3");
        assert_eq!(KeptErrors::of(&[]).in_place_of_words("no sesame"), "no sesame");
        let many: Vec<ToolCalled> = (0..=CALLS_MAX).map(|n| failed(&format!("words {n}"), "K")).collect();
        assert_eq!(KeptErrors::of(&many).in_place_of_words("words 3"), NOT_KEPT);
    }
}
