//! What is said about a name that there is not.

use gristmill_domain::nearest;

/// Of a name that is shown.
const NAME_CHARS_MAX: usize = 64;

/// Says that a name is unknown, which one is close, and which there are.
pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
    let meant = match nearest(name, known.iter().map(|known| (*known, *known)), 1).first() {
        Some(close) => format!("did you mean `{close}`? "),
        None => String::new(),
    };
    format!("no {kind} `{shown}`; {meant}there are: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_with_all_known_ones() {
        assert_eq!(
            unknown("unit", "metre", ["meter", "mile"]),
            "no unit `metre`; did you mean `meter`? there are: meter, mile"
        );
        assert_eq!(unknown("unit", "zebra", ["meter", "mile"]), "no unit `zebra`; there are: meter, mile");
    }
}
