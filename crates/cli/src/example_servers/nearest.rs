//! "Did you mean": the known name that is closest to an unknown one.

/// Longer names are not compared.
const NAME_CHARS_MAX: usize = 64;

/// Says that a name is unknown, which one is close, and which there are.
pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
    let meant = match nearest(name, &known) {
        Some(close) => format!("did you mean `{close}`? "),
        None => String::new(),
    };
    format!("no {kind} `{shown}`; {meant}there are: {}", known.join(", "))
}

/// The known name that needs the fewest changes, if they are few.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.chars().count() > NAME_CHARS_MAX {
        return None;
    }
    let name = name.to_lowercase();
    let closest =
        known.iter().map(|candidate| (distance(&name, &candidate.to_lowercase()), *candidate)).min()?;
    (closest.0 <= 1 + closest.1.chars().count() / 4).then_some(closest.1)
}

/// Letters to add, drop or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_name_is_suggested_and_a_far_one_is_not() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest(name, &["calculator", "weather", "crm"]), expected, "{name}");
        };
        check("calculater", Some("calculator"));
        check("WEATHER", Some("weather"));
        check("cmr", None);
        check("cr", Some("crm"));
        check("zebra", None);
        check("", None);
    }

    #[test]
    fn an_unknown_name_is_told_with_all_known_ones() {
        assert_eq!(
            unknown("unit", "metre", ["meter", "mile"]),
            "no unit `metre`; did you mean `meter`? there are: meter, mile"
        );
    }
}
