//! Which keys of an object are data: ids, dates, addresses, names of people. Whatever may be is taken for it.

/// Longer names are no names of fields.
const KEY_BYTES_MAX: usize = 48;

/// Names of fields have fewer: `line1`, `sha256`, `iso8601`.
const DIGITS_MAX: usize = 4;

/// So many letters and digits in a row, mixed as nobody names a field, are an id.
const ID_CHARS_MIN: usize = 8;

/// Whether a key is data, by its looks.
pub(super) fn is_data(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    key.is_empty()
        || key.len() > KEY_BYTES_MAX
        || key.starts_with(|c: char| c.is_numeric())
        || digits > DIGITS_MAX
        || !key.chars().all(is_in_names)
        || key.trim_start_matches('@').contains('@')
        || (key.contains(' ') && digits > 0)
        || is_like_a_person(key)
        || key.split(['_', '-', ' ']).any(is_id)
}

/// A dot or a slash stands in hosts, paths and versions; brackets in tokens for personal data.
fn is_in_names(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '$' | '@')
}

/// Several words that begin with capitals may be a column's title and may be somebody's name.
fn is_like_a_person(key: &str) -> bool {
    let mut words = key.split_whitespace();
    key.contains(' ') && words.all(|word| word.starts_with(char::is_uppercase))
}

/// Such as `U02AB3CD4`, `9f86d081`, `Nffr7eUf9a2`.
fn is_id(part: &str) -> bool {
    if part.len() < ID_CHARS_MIN || !part.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let has_lower = part.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_hex = part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let groups = part.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).count();
    groups >= 2 || (digits >= 2 && (is_hex || !has_lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_dates_addresses_and_people_are_data_and_names_of_fields_are_not() {
        for key in [
            "",
            "2024",
            "2024-05-01",
            "4711",
            "anna@example.com",
            "[EMAIL:7f3a]",
            "/home/anna",
            "example.com",
            "https://example.com",
            "9f86d081884c7d65",
            "U02AB3CD4EF",
            "cus_Nffr7eUf9a2",
            "0b5c9c1e-0d3a-4a67-9d70-1f4f8a2f3c11",
            "user_123456",
            "Anna Schmidt",
            "May 2024",
            "٣٤",
            &"x".repeat(49),
        ] {
            assert!(is_data(key), "{key}");
        }
        for key in [
            "id",
            "createdAt",
            "address_line1",
            "sha256",
            "iso8601",
            "$ref",
            "@type",
            "_links",
            "unit price",
            "Straße",
            "x-request-id",
            "temperatureCelsius",
            "isRecommended",
            "utf8",
            "base64Content",
        ] {
            assert!(!is_data(key), "{key}");
        }
    }
}
