//! What is left alone: values, and fields of servers.

use std::collections::HashSet;

use crate::kind::Kind;
use crate::settings::{Allow, PATTERN_BYTES_MAX, SettingsError};

#[derive(Debug, Default)]
pub struct AllowList {
    values: HashSet<String>,
    globs: Vec<String>,
    fields: Vec<(Vec<String>, Vec<Kind>)>,
}

impl AllowList {
    pub fn of(allow: &Allow) -> Result<Self, SettingsError> {
        let fields = allow.fields.iter().map(|one| &one.field);
        if let Some(long) =
            allow.values.iter().chain(&allow.globs).chain(fields).find(|one| one.len() > PATTERN_BYTES_MAX)
        {
            return Err(SettingsError::AllowTooLong(long.clone()));
        }
        let field = |one: &crate::settings::AllowField| {
            (one.field.split('.').map(str::to_lowercase).collect(), one.kinds.clone())
        };
        Ok(Self {
            values: allow.values.iter().map(|value| value.to_lowercase()).collect(),
            globs: allow.globs.iter().map(|glob| glob.to_lowercase()).collect(),
            fields: allow.fields.iter().map(field).collect(),
        })
    }

    pub fn has_value(&self, value: &str) -> bool {
        if self.values.is_empty() && self.globs.is_empty() || value.len() > PATTERN_BYTES_MAX {
            return false;
        }
        let value = value.to_lowercase();
        self.values.contains(&value) || self.globs.iter().any(|glob| fits(glob.as_bytes(), value.as_bytes()))
    }

    /// Whether a kind is allowed in a field, by the names that lead to it.
    pub fn has_field(&self, names: &[&str], kind: &Kind) -> bool {
        self.fields
            .iter()
            .any(|(pattern, kinds)| (kinds.is_empty() || kinds.contains(kind)) && fits_names(pattern, names))
    }

    pub fn has_fields(&self) -> bool {
        !self.fields.is_empty()
    }
}

/// `*` is any text. Goes back to the last `*` alone, which is enough and bounds the time by the product of both.
fn fits(glob: &[u8], value: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < value.len() {
        if glob.get(at) == Some(&b'*') {
            star = Some((at, from));
            at += 1;
        } else if glob.get(at) == value.get(from) {
            at += 1;
            from += 1;
        } else if let Some((star_at, taken)) = star {
            star = Some((star_at, taken + 1));
            at = star_at + 1;
            from = taken + 1;
        } else {
            return false;
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}

fn fits_names(pattern: &[String], names: &[&str]) -> bool {
    let mut fitting = vec![false; names.len() + 1];
    fitting[0] = true;
    for part in pattern {
        let mut next = vec![false; names.len() + 1];
        for (at, is_fitting) in fitting.iter().enumerate() {
            match part.as_str() {
                "**" => next[at] = *is_fitting || at > 0 && next[at - 1],
                _ if *is_fitting && at < names.len() => {
                    next[at + 1] |= fits(part.as_bytes(), names[at].to_lowercase().as_bytes());
                }
                _ => {}
            }
        }
        fitting = next;
    }
    fitting[names.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_one_name_and_two_are_any_number() {
        let check = |pattern: &str, names: &[&str], expected: bool| {
            let pattern: Vec<String> = pattern.split('.').map(str::to_owned).collect();
            assert_eq!(fits_names(&pattern, names), expected, "{pattern:?} {names:?}");
        };
        check("crm.*.fields.notes", &["crm", "get", "fields", "notes"], true);
        check("crm.*.fields.notes", &["crm", "fields", "notes"], false);
        check("crm.**.notes", &["crm", "notes"], true);
        check("crm.**.notes", &["crm", "a", "b", "notes"], true);
        check("crm.**", &["mail", "a"], false);
        check("crm.get_*.x", &["crm", "get_all", "X"], true);
    }

    #[test]
    fn a_star_in_a_value_is_any_text() {
        assert!(fits(b"*@example.com", b"a.b@example.com"));
        assert!(!fits(b"*@example.com", b"a@example.org"));
        assert!(fits(b"a*b*c", b"abbbbc"));
        assert!(!fits(b"a*b*c", b"abbbb"));
    }
}
