//! Fields of an answer, and which of them a phrase of the sentence means.

use crate::lexicon::Direction;
use crate::stems::{is_short_form, stems_of};

/// One field of a record or a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    /// The words of its name, without units.
    pub words: Vec<String>,
    /// The words of its name, all of them.
    pub all_words: Vec<String>,
    pub about: Vec<String>,
    pub kind: FieldKind,
    /// Whether it is always there and never null.
    pub always: bool,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    Number,
    Text,
    /// One of a few texts.
    Choice(Vec<String>),
    Flag,
    /// Lists, objects and whatever else.
    Other,
}

/// Words of a name that only say in what it is measured.
const UNITS: &[&str] = &[
    "c", "f", "k", "kmh", "mph", "mm", "cm", "m", "km", "percent", "pct", "byte", "kb", "mb", "ms", "s",
    "cent", "usd", "eur",
];

/// Words of a description that say nothing about the field.
const EMPTY: &[&str] = &[
    "a", "an", "the", "of", "in", "it", "its", "is", "as", "and", "or", "to", "for", "such", "what", "how",
    "many", "when", "with",
];

impl Field {
    pub fn new(name: &str, about: &str, kind: FieldKind, always: bool) -> Self {
        let all_words = stems_of(name);
        let mut words: Vec<String> =
            all_words.iter().filter(|word| !UNITS.contains(&word.as_str())).cloned().collect();
        if words.is_empty() {
            words.clone_from(&all_words);
        }
        let about = stems_of(about).into_iter().filter(|word| !EMPTY.contains(&word.as_str())).collect();
        Self { name: name.to_owned(), words, all_words, about, kind, always }
    }

    /// How well one word fits: 3 by name, 2.5 by a short form of it, 1 by description.
    fn fit(&self, stem: &str) -> f32 {
        if self.words.iter().any(|word| word == stem) {
            3.0
        } else if self
            .words
            .iter()
            .any(|word| is_short_form(word, stem) || is_short_form(stem, word) && stem.len() > 3)
        {
            2.5
        } else if self.about.iter().any(|word| word == stem) {
            1.0
        } else {
            0.0
        }
    }
}

/// Why a phrase means no field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoField {
    Unknown,
    /// Several fit equally well.
    Several(Vec<String>),
}

/// The one field that all these words fit best. A direction helps where a lowest and a highest value stand
/// side by side.
pub fn resolve<'a>(
    fields: &[&'a Field],
    stems: &[&str],
    direction: Option<Direction>,
) -> Result<&'a Field, NoField> {
    let mut best: Vec<(&Field, f32)> = Vec::new();
    for &field in fields {
        let fits: Vec<f32> = stems.iter().map(|stem| field.fit(stem)).collect();
        if fits.is_empty() || fits.contains(&0.0) {
            continue;
        }
        // Without a word of its name a field is meant only if its description has them all.
        let sum: f32 = fits.iter().sum::<f32>() + hinted(field, direction);
        best.push((field, sum / stems.len() as f32));
    }
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    match best.as_slice() {
        [] => Err(NoField::Unknown),
        [(field, _)] => Ok(field),
        [(field, first), (_, second), ..] if first - second > 0.1 => Ok(field),
        several => {
            let first = several[0].1;
            let equal = several.iter().take_while(|(_, sum)| first - sum <= 0.1);
            Err(NoField::Several(equal.take(6).map(|(field, _)| field.name.clone()).collect()))
        }
    }
}

fn hinted(field: &Field, direction: Option<Direction>) -> f32 {
    let hints: &[&str] = match direction {
        Some(Direction::Up) => &["max", "highest", "high", "most", "greatest", "largest"],
        Some(Direction::Down) => &["min", "lowest", "low", "least", "smallest"],
        None => return 0.0,
    };
    let has = |words: &[String]| words.iter().any(|word| hints.contains(&word.as_str()));
    if has(&field.all_words) || has(&field.about) { 0.5 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weather() -> Vec<Field> {
        let number = |name: &str, about: &str| Field::new(name, about, FieldKind::Number, true);
        vec![
            number("temp_min_c", "Lowest temperature in °C"),
            number("temp_max_c", "Highest temperature in °C"),
            number("wind_kmh", "Mean wind in km/h"),
            number("feels_like_c", "What it feels like, with wind and humidity"),
        ]
    }

    fn check(stems: &[&str], direction: Option<Direction>, expected: Result<&str, NoField>) {
        let fields = weather();
        let fields: Vec<&Field> = fields.iter().collect();
        let found = resolve(&fields, stems, direction).map(|field| field.name.as_str());
        assert_eq!(found, expected, "{stems:?}");
    }

    #[test]
    fn a_phrase_means_the_field_that_all_its_words_fit() {
        let both = vec!["temp_min_c".to_owned(), "temp_max_c".to_owned()];
        check(&["wind"], None, Ok("wind_kmh"));
        check(&["max", "temperatur"], None, Ok("temp_max_c"));
        check(&["temperatur"], None, Err(NoField::Several(both)));
        check(&["temperatur"], Some(Direction::Down), Ok("temp_min_c"));
        check(&["price"], None, Err(NoField::Unknown));
    }
}
