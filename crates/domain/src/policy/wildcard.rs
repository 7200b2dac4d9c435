//! Names with stars in them.

/// Whether a pattern fits a whole text: `*` is any number of characters, `?` is one. Takes time in
/// proportion to the product of both lengths, no memory.
pub fn wildcard_fits(pattern: &str, text: &str) -> bool {
    if pattern.contains('?') {
        return fits_sign_by_sign(pattern, text);
    }
    let Some((beginning, rest)) = pattern.split_once('*') else { return pattern == text };
    let (between, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inside = text.strip_prefix(beginning).and_then(|text| text.strip_suffix(end));
    let Some(mut left) = inside else { return false };
    // What each star takes is as little as possible.
    between.split('*').all(|piece| match left.split_once(piece) {
        Some((_, after)) => {
            left = after;
            true
        }
        None => false,
    })
}

/// Whether a pattern fits any text that begins like this.
pub(super) fn wildcard_may_begin(pattern: &str, beginning: &str) -> bool {
    let head = pattern.split('*').next().unwrap_or_default();
    let (mut wanted, mut given) = (head.chars(), beginning.chars());
    loop {
        match (wanted.next(), given.next()) {
            (_, None) => return true,
            (Some(one), Some(other)) if one == '?' || one == other => {}
            (Some(_), Some(_)) => return false,
            // A star takes the rest, if there is one.
            (None, Some(_)) => return head.len() < pattern.len(),
        }
    }
}

/// Whether a pattern fits every text that begins like this.
pub(super) fn wildcard_fits_all(pattern: &str, beginning: &str) -> bool {
    let before_star = pattern.strip_suffix('*');
    before_star.is_some_and(|before| !before.contains(['*', '?']) && beginning.starts_with(before))
}

fn fits_sign_by_sign(pattern: &str, text: &str) -> bool {
    let (mut wanted, mut given) = (pattern.chars(), text.chars());
    // After the last star, and what it has not taken yet.
    let mut star = None;
    loop {
        let (before, rest) = (wanted.clone(), given.clone());
        match (wanted.next(), given.next()) {
            (Some('*'), _) => {
                star = Some((wanted.clone(), rest.clone()));
                given = rest;
            }
            (None, None) => return true,
            (Some('?'), Some(_)) => {}
            (Some(one), Some(other)) if one == other => {}
            (_, None) => return before.as_str().chars().all(|c| c == '*'),
            (_, Some(_)) => {
                let Some((after, mut left)) = star.take() else { return false };
                left.next();
                (wanted, given) = (after.clone(), left.clone());
                star = Some((after, left));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_are_any_number_of_characters_and_question_marks_are_one() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("", "", true),
            ("", "a", false),
            ("get_*", "get_user", true),
            ("get_*", "forget_user", false),
            ("*_user", "get_user", true),
            ("*a*b", "xxaxxb", true),
            ("*a*b", "xxaxx", false),
            ("a**", "a", true),
            ("aba*ba", "aba", false),
            ("aba*ba", "ababa", true),
            ("user", "user", true),
            ("user", "users", false),
            ("grü*ß", "grüß", true),
            ("*__*", "1 + 1", false),
            ("*__*", "a.__b", true),
            ("gr?ß", "grüß", true),
            ("gr?", "gr", false),
            ("file:///*", "file:///a/b", true),
            ("crm.get_*", "crm.get_x", true),
        ] {
            assert_eq!(wildcard_fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn pieces_and_signs_say_the_same() {
        let texts = ["", "a", "b", "ab", "ba", "aab", "aba", "bab", "abab", "ä", "aäb"];
        let signs = ["a", "b", "ä", "*", "?"];
        let mut patterns = vec![String::new()];
        for length in 0..5 {
            let longest = patterns.iter().filter(|pattern| pattern.chars().count() == length);
            let longer = longest.flat_map(|pattern| signs.map(|sign| format!("{pattern}{sign}")));
            patterns.extend(longer.collect::<Vec<_>>());
        }
        for pattern in patterns {
            for text in texts {
                assert_eq!(
                    wildcard_fits(&pattern, text),
                    fits_sign_by_sign(&pattern, text),
                    "{pattern} {text}"
                );
            }
        }
    }

    #[test]
    fn a_beginning_is_fitted_always_or_perhaps_or_never() {
        for (pattern, beginning, perhaps, always) in [
            ("*", "", true, true),
            ("*", "crm.", true, true),
            ("crm.get_*", "crm.", true, false),
            ("crm.get_*", "mail.", false, false),
            ("crm.*", "crm.", true, true),
            ("crm.get", "crm.", true, false),
            ("crm*", "crm.", true, true),
            ("crm", "crm.", false, false),
            ("c?m.*", "crm.", true, false),
            ("*.get_*", "crm.", true, false),
            ("cr", "crm.", false, false),
            ("grü*", "grüß.", true, true),
        ] {
            let found = (wildcard_may_begin(pattern, beginning), wildcard_fits_all(pattern, beginning));
            assert_eq!(found, (perhaps, always), "{pattern} {beginning}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        assert!(!wildcard_fits(&"*a".repeat(500), &("a".repeat(400) + "b")));
    }
}
