//! Text cut to a length, always between two characters.

/// The beginning of a text.
pub fn first_bytes(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// The end of a text.
pub fn last_bytes(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

/// The beginning of a text.
pub fn first_chars(text: &str, chars_max: usize) -> &str {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The text, or at most so many bytes of it and `…`.
pub fn cut_bytes(text: &str, bytes_max: usize) -> String {
    marked(text, first_bytes(text, bytes_max), "…")
}

/// The text, or at most so many characters of it and `…`.
pub fn cut_chars(text: &str, chars_max: usize) -> String {
    cut_chars_with(text, chars_max, "…")
}

/// The text, or at most so many characters of it and a mark.
pub fn cut_chars_with(text: &str, chars_max: usize, mark: &str) -> String {
    marked(text, first_chars(text, chars_max), mark)
}

/// The text, or as much of it as fits with `…` into so many characters.
pub fn cut_to_width(text: &str, width: usize) -> String {
    match first_chars(text, width).len() < text.len() {
        true => cut_chars(text, width.saturating_sub(1)),
        false => text.to_owned(),
    }
}

fn marked(text: &str, kept: &str, mark: &str) -> String {
    match kept.len() < text.len() {
        true => format!("{kept}{mark}"),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!([3, 4, 9].map(|bytes| first_bytes("größer", bytes)), ["gr", "grö", "größer"]);
        assert_eq!([3, 4, 9].map(|bytes| last_bytes("übergrö", bytes)), ["rö", "grö", "übergrö"]);
        assert_eq!([0, 3, 9].map(|chars| first_chars("größer", chars)), ["", "grö", "größer"]);
    }

    #[test]
    fn a_mark_stands_where_something_is_missing() {
        assert_eq!([4, 7, 8].map(|bytes| cut_bytes("größer", bytes)), ["grö…", "größe…", "größer"]);
        assert_eq!([0, 3, 6].map(|chars| cut_chars("größer", chars)), ["…", "grö…", "größer"]);
        assert_eq!(cut_chars_with("größer", 3, " […]"), "grö […]");
        assert_eq!(cut_chars_with("größer", 6, " […]"), "größer");
        assert_eq!([0, 1, 4, 6].map(|width| cut_to_width("größer", width)), ["…", "…", "grö…", "größer"]);
    }
}
