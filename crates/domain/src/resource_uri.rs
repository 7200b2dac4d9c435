//! Resources of servers under URIs of ours: `gristmill://SERVER/ENCODED`, where the last part is the
//! server's own URI with everything encoded but unreserved characters. Two servers may have the same
//! URI; ours say whose it is.

use std::fmt::Write as _;

/// What all of them begin with.
pub const SCHEME: &str = "gristmill://";

/// Longer ones are no names.
pub const URI_BYTES_MAX: usize = 8 * 1024;

/// A URI of ours, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceUri {
    /// The server's configured name.
    pub server: String,
    /// The server's own URI.
    pub uri: String,
}

/// Not a URI of ours. Nothing was asked of any server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceUriError {
    #[error("it doesn't start with {SCHEME}; resources are named {SCHEME}SERVER/ENCODED-URI")]
    Scheme,
    /// Too long to be one.
    #[error("it has {bytes} bytes; the limit is {}", 4 * URI_BYTES_MAX)]
    Long { bytes: usize },
    /// One of its two parts is missing.
    #[error("it needs a server and, after a slash, the server's own URI, encoded")]
    Incomplete,
    /// A character that no URI has.
    #[error("the character {character:?} at byte {at} must be percent-encoded")]
    Character { character: char, at: usize },
    /// A percent sign that begins nothing.
    #[error("the percent sign at byte {at} is not followed by two hexadecimal digits")]
    Escape { at: usize },
    /// Encoded bytes that are no text.
    #[error("it doesn't decode to UTF-8 text")]
    NotText,
}

/// Our URI of a server's resource.
pub fn to_ours(server: &str, uri: &str) -> String {
    format!("{SCHEME}{}/{}", encoded(server), encoded(uri))
}

/// Our template for a server's template: its literal parts are encoded, its expressions are kept as
/// they are. What is filled in is decoded with the rest by [`from_ours`].
pub fn template_to_ours(server: &str, template: &str) -> String {
    let mut made = format!("{SCHEME}{}/", encoded(server));
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let Some(end) = rest[start..].find('}').map(|length| start + length) else { break };
        if is_expression(&rest[start + 1..end]) {
            made.push_str(&encoded(&rest[..start]));
            made.push_str(&rest[start..=end]);
        } else {
            made.push_str(&encoded(&rest[..=end]));
        }
        rest = &rest[end + 1..];
    }
    made.push_str(&encoded(rest));
    made
}

/// Whether a server's URI may be one that fills in this template of its: whatever stands for the
/// expressions, its literal parts are there in their order.
pub fn may_fill_in(template: &str, uri: &str) -> bool {
    let mut literals: Vec<String> = vec![String::new()];
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let Some(end) = rest[start..].find('}').map(|length| start + length) else { break };
        let literal = if is_expression(&rest[start + 1..end]) { &rest[..start] } else { &rest[..=end] };
        literals.last_mut().into_iter().for_each(|last| last.push_str(literal));
        if literal.len() == start {
            literals.push(String::new());
        }
        rest = &rest[end + 1..];
    }
    literals.last_mut().into_iter().for_each(|last| last.push_str(rest));
    let [first, middle @ .., last] = literals.as_slice() else { return literals.concat() == uri };
    let Some(mut left) = uri.strip_prefix(first.as_str()).and_then(|left| left.strip_suffix(last.as_str()))
    else {
        return false;
    };
    middle.iter().all(|literal| match left.split_once(literal.as_str()) {
        Some((_, after)) => {
            left = after;
            true
        }
        None => false,
    })
}

/// The server and its own URI. Reserved characters may stand as they are: what fills in a template
/// may leave them so.
pub fn from_ours(ours: &str) -> Result<ResourceUri, ResourceUriError> {
    if ours.len() > 4 * URI_BYTES_MAX {
        return Err(ResourceUriError::Long { bytes: ours.len() });
    }
    let rest = ours.strip_prefix(SCHEME).ok_or(ResourceUriError::Scheme)?;
    let (server, uri) = rest.split_once('/').ok_or(ResourceUriError::Incomplete)?;
    if server.is_empty() || uri.is_empty() {
        return Err(ResourceUriError::Incomplete);
    }
    let uri_at = SCHEME.len() + server.len() + 1;
    Ok(ResourceUri { server: decoded(server, SCHEME.len())?, uri: decoded(uri, uri_at)? })
}

fn encoded(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for byte in text.bytes() {
        match is_unreserved(byte) {
            true => made.push(char::from(byte)),
            // Writing to a string does not fail.
            false => drop(write!(made, "%{byte:02X}")),
        }
    }
    made
}

/// `offset` is where the text stands in the whole, for messages.
fn decoded(text: &str, offset: usize) -> Result<String, ResourceUriError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == '%' {
            let byte = text.get(at + 1..at + 3).and_then(byte_of);
            bytes.push(byte.ok_or(ResourceUriError::Escape { at: offset + at })?);
            characters.nth(1);
            continue;
        }
        let byte = u8::try_from(character).ok().filter(|byte| is_unreserved(*byte) || is_reserved(*byte));
        bytes.push(byte.ok_or(ResourceUriError::Character { character, at: offset + at })?);
    }
    String::from_utf8(bytes).map_err(|_| ResourceUriError::NotText)
}

fn byte_of(digits: &str) -> Option<u8> {
    // `from_str_radix` would also take a sign.
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u8::from_str_radix(digits, 16).ok())?
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

/// What stands between the braces of a URI template: an operator, then names.
fn is_expression(text: &str) -> bool {
    let names = text.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(text);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ',' | ':' | '*' | '-');
    !names.is_empty() && names.len() <= 200 && names.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_uri_of_ours_says_whose_it_is() {
        let ours = "gristmill://google-drive/file%3A%2F%2F%2Fa%20b%2F%C3%BC%25.txt";
        assert_eq!(to_ours("google-drive", "file:///a b/ü%.txt"), ours);
        let expected =
            ResourceUri { server: "google-drive".to_owned(), uri: "file:///a b/ü%.txt".to_owned() };
        assert_eq!(from_ours(ours), Ok(expected));
    }

    #[test]
    fn expressions_of_templates_stay_readable() {
        let check = |template: &str, ours: &str| {
            assert_eq!(template_to_ours("db", template), format!("gristmill://db/{ours}"), "{template}");
        };
        check("db://{table}/rows{?limit,offset}", "db%3A%2F%2F{table}%2Frows{?limit,offset}");
        check("file:///{+path}", "file%3A%2F%2F%2F{+path}");
        check("a%20b/{name:3}{list*}", "a%2520b%2F{name:3}{list*}");
        check("x{not an expression}y{", "x%7Bnot%20an%20expression%7Dy%7B");
        check("}{}{a}", "%7D%7B%7D{a}");
        check("{\u{202e}}", "%7B%E2%80%AE%7D");
    }

    #[test]
    fn a_template_that_is_filled_in_names_what_the_server_means() {
        let ours = template_to_ours("db", "db://{table}/{+path}{?limit}");
        let filled =
            ours.replace("{table}", "or%20ders").replace("{+path}", "a/b").replace("{?limit}", "?limit=3");
        let uri = "db://or ders/a/b?limit=3".to_owned();
        assert_eq!(from_ours(&filled), Ok(ResourceUri { server: "db".to_owned(), uri }));
    }

    #[test]
    fn a_uri_fills_in_a_template_whose_literal_parts_it_has() {
        let check = |template: &str, uri: &str, expected: bool| {
            assert_eq!(may_fill_in(template, uri), expected, "{template} {uri}");
        };
        check("db://{table}/{+path}{?limit}", "db://orders/a/b?limit=3", true);
        check("db://{table}/rows", "db://orders/rows", true);
        check("db://{table}/rows", "db://orders/columns", false);
        check("db://{table}/rows", "file:///rows", false);
        check("{+anything}", "x:y", true);
        check("plain:uri", "plain:uri", true);
        check("plain:uri", "plain:uri2", false);
        check("x{not an expression}y", "x{not an expression}y", true);
        check("a{x}a", "a", false);
        check("a{x}/{y}/b", "a1/2/b", true);
        check("a{x}/{y}/b", "a1/b", false);
    }

    #[test]
    fn what_is_no_uri_of_ours_is_refused_with_a_reason() {
        let check = |ours: &str, error: ResourceUriError| assert_eq!(from_ours(ours), Err(error), "{ours}");
        check("file:///etc/passwd", ResourceUriError::Scheme);
        check("GRISTMILL://a/b", ResourceUriError::Scheme);
        check("gristmill://", ResourceUriError::Incomplete);
        check("gristmill://server", ResourceUriError::Incomplete);
        check("gristmill:///uri", ResourceUriError::Incomplete);
        check("gristmill://server/", ResourceUriError::Incomplete);
        check("gristmill://a/b c", ResourceUriError::Character { character: ' ', at: 15 });
        check("gristmill://a/ü", ResourceUriError::Character { character: 'ü', at: 14 });
        check("gristmill://a/{x}", ResourceUriError::Character { character: '{', at: 14 });
        check("gristmill://a/%", ResourceUriError::Escape { at: 14 });
        check("gristmill://a/b%+1", ResourceUriError::Escape { at: 15 });
        check("gristmill://a/%ü", ResourceUriError::Escape { at: 14 });
        check("gristmill://a/%ff", ResourceUriError::NotText);
        check(&format!("gristmill://a/{}", "x".repeat(40_000)), ResourceUriError::Long { bytes: 40_014 });
    }

    /// Texts of the pieces that matter.
    fn odd_text() -> impl Strategy<Value = String> {
        let pieces = vec![
            "a", "Z", "0", "-", "%", "%2", "%41", "/", "://", "?", "#", "{", "}", "{x}", "ü", "読", "🙂",
            " ", "\n",
        ];
        let of_pieces = proptest::collection::vec(proptest::sample::select(pieces), 1..12);
        prop_oneof![of_pieces.prop_map(|pieces| pieces.concat()), ".{1,20}"]
    }

    proptest! {
        #[test]
        fn every_uri_comes_back_as_it_went(server in odd_text(), uri in odd_text()) {
            let ours = to_ours(&server, &uri);
            prop_assert!(ours.is_ascii());
            prop_assert_eq!(from_ours(&ours), Ok(ResourceUri { server, uri }));
        }

        #[test]
        fn no_text_is_too_odd_to_be_looked_at(text in odd_text()) {
            prop_assert!(template_to_ours("s", &text).is_ascii());
            // What is understood is named in the same way again.
            if let Ok(understood) = from_ours(&format!("{SCHEME}{text}")) {
                prop_assert_eq!(from_ours(&to_ours(&understood.server, &understood.uri)), Ok(understood));
            }
        }

        #[test]
        fn a_template_without_expressions_is_a_uri(uri in "[^{}]{1,40}") {
            prop_assert_eq!(template_to_ours("s", &uri), to_ours("s", &uri));
        }
    }
}
