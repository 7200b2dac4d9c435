//! Names with stars in them.

/// Whether a pattern fits a whole text: `*` is any number of characters, `?` is one. Takes time in
/// proportion to the product of both lengths, no memory.
pub fn wildcard_fits(pattern: &str, text: &str) -> bool {
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
            ("gr?ß", "grüß", true),
            ("gr?", "gr", false),
            ("file:///*", "file:///a/b", true),
            ("crm.get_*", "crm.get_x", true),
        ] {
            assert_eq!(wildcard_fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        assert!(!wildcard_fits(&"*a".repeat(500), &("a".repeat(400) + "b")));
    }
}
