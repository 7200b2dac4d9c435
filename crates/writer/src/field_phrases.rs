//! Which fields the phrases of a sentence mean: comparisons, values of a field, names.

use serde_json::Value;

use crate::early::{ComparisonAt, Operator};
use crate::fields::{Field, FieldKind, NoField, resolve};
use crate::kinds::{choice_at, is_part_of_another};
use crate::lexicon::{self, Direction};
use crate::operations::{Filter, Parser};
use crate::reading::{Problem, Role};
use crate::shape::Rows;

/// Words of one field in a sentence.
const PHRASE_MAX: usize = 3;

impl Parser<'_, '_> {
    pub fn comparison(&mut self, rows: &Rows, comparison: &ComparisonAt) -> Result<Filter, Problem> {
        let numbers = numbers(rows);
        let field = self.compared_field(&numbers, comparison)?;
        self.take_unit(&field, comparison.to);
        let said = operator_words(comparison.operator);
        self.reading
            .assume(format!("I kept the rows whose `{}` is {said} {}.", field.name, comparison.number));
        let value = Value::Number(comparison.number.clone());
        Ok(Filter { field, operator: comparison.operator, value })
    }

    pub fn compared_field(
        &mut self,
        numbers: &[&Field],
        comparison: &ComparisonAt,
    ) -> Result<Field, Problem> {
        if !comparison.measures.is_empty() {
            return measured(numbers, comparison.measures, None).cloned();
        }
        // `more than 150 words`
        if self.reading.is_free_word(comparison.to) {
            let stem = self.reading.tokens[comparison.to].stem.clone();
            let named: Vec<&&Field> = numbers.iter().filter(|field| field.words.contains(&stem)).collect();
            if let [field] = named[..] {
                let field = (*field).clone();
                self.reading.take(comparison.to, Role::Field);
                return Ok(field);
            }
        }
        // `was the wind in Dublin above 30`
        for end in (0..comparison.from).rev() {
            if let Some(field) = self.phrase_ending(numbers, end)? {
                return Ok(field);
            }
        }
        Err(Problem::Several {
            what: "the compared field".to_owned(),
            choices: numbers.iter().take(6).map(|field| field.name.clone()).collect(),
        })
    }

    /// The unit behind a number, if the field's name has it: `80 bytes`, `30 km/h`.
    pub fn take_unit(&mut self, field: &Field, at: usize) {
        let Some(token) = self.reading.tokens.get(at).filter(|_| self.reading.is_free(at)) else { return };
        let letters: String = token.lower.chars().filter(|c| c.is_alphanumeric()).collect();
        if field.all_words.iter().any(|word| *word == token.stem || *word == letters) {
            self.reading.take(at, Role::Field);
        }
    }

    /// The longest phrase of free words that ends here and means a field.
    pub fn phrase_ending(&mut self, fields: &[&Field], end: usize) -> Result<Option<Field>, Problem> {
        for length in (1..=PHRASE_MAX.min(end + 1)).rev() {
            let range = end + 1 - length..end + 1;
            if let Some(field) = self.phrase(fields, range, None)? {
                return Ok(Some(field));
            }
        }
        Ok(None)
    }

    /// The longest phrase of free words that begins here, behind `of` and `the`, and means a field.
    pub fn phrase_beginning(
        &mut self,
        fields: &[&Field],
        from: usize,
        direction: Option<Direction>,
    ) -> Result<Option<Field>, Problem> {
        let mut from = from;
        while matches!(self.reading.lower(from), "of" | "the" | "a" | "in") {
            from += 1;
        }
        for length in (1..=PHRASE_MAX).rev() {
            if from + length > self.reading.tokens.len() {
                continue;
            }
            if let Some(field) = self.phrase(fields, from..from + length, direction)? {
                return Ok(Some(field));
            }
        }
        Ok(None)
    }

    pub fn phrase(
        &mut self,
        fields: &[&Field],
        range: std::ops::Range<usize>,
        direction: Option<Direction>,
    ) -> Result<Option<Field>, Problem> {
        let is_word = |index: usize| {
            // `maximum` may have been taken as an operation before its field was known.
            self.reading.is_free_word(index) || lexicon::superlative(self.reading.lower(index)).is_some()
        };
        if !range.clone().all(is_word) {
            return Ok(None);
        }
        let stems: Vec<&str> =
            self.reading.tokens[range.clone()].iter().map(|token| token.stem.as_str()).collect();
        match resolve(fields, &stems, direction) {
            Ok(field) => {
                self.reading.take_all(range, Role::Field);
                self.reading.assume(format!("I took `{}` for “{}”.", field.name, stems.join(" ")));
                Ok(Some(field.clone()))
            }
            Err(NoField::Unknown) => Ok(None),
            Err(NoField::Several(choices)) => {
                let what = format!("“{}”", stems.join(" "));
                Err(Problem::Several { what, choices })
            }
        }
    }

    /// Words that are values of a row's field: `files` keeps the rows whose `kind` is `file`.
    pub fn chosen(&mut self, rows: &Rows) -> Result<Vec<Filter>, Problem> {
        let mut filters: Vec<Filter> = Vec::new();
        let mut index = 0;
        while index < self.reading.tokens.len() {
            index += self.chosen_here(rows, index, &mut filters)?.max(1);
        }
        Ok(filters)
    }

    /// How many words were taken here.
    pub fn chosen_here(
        &mut self,
        rows: &Rows,
        index: usize,
        filters: &mut Vec<Filter>,
    ) -> Result<usize, Problem> {
        if !self.reading.is_free_word(index) || lexicon::is_strict(self.reading.lower(index)) {
            return Ok(0);
        }
        let tokens = &self.reading.tokens[index..];
        let stems: Vec<&str> = tokens
            .iter()
            .take(6)
            .take_while(|token| token.is_word())
            .map(|token| token.stem.as_str())
            .collect();
        let mut hits: Vec<(&Field, &[String], String, usize)> = Vec::new();
        for field in &rows.fields {
            if let FieldKind::Choice(choices) = &field.kind
                && let Some((choice, length)) = choice_at(choices, &stems)
            {
                hits.push((field, choices, choice, length));
            }
        }
        let word = self.reading.tokens[index].text.clone();
        let several = |choices: Vec<String>| Problem::Several { what: format!("“{word}”"), choices };
        let (field, choices, choice, length) = match hits.as_slice() {
            [] => return Ok(0),
            [one] => one.clone(),
            _ => return Err(several(hits.iter().map(|(field, ..)| field.name.clone()).collect())),
        };
        if is_part_of_another(choices, &choice) {
            let alike = choices.iter().filter(|other| other.contains(&choice)).cloned().collect();
            return Err(several(alike));
        }
        // The rows themselves, or those of one kind?
        if rows.words.iter().any(|own| stems.first() == Some(&own.as_str())) {
            return Err(several(vec!["every row".to_owned(), format!("{} = {choice}", field.name)]));
        }
        if filters.iter().any(|filter| filter.field.name == field.name) {
            return Err(several(vec![choice]));
        }
        self.reading.take_all(index..index + length, Role::Field);
        self.reading.assume(format!("I kept the rows whose `{}` is `{choice}`.", field.name));
        filters.push(Filter { field: field.clone(), operator: Operator::Equals, value: Value::from(choice) });
        Ok(length)
    }
}

/// The fields of rows that can be computed with.
pub fn numbers(rows: &Rows) -> Vec<&Field> {
    rows.fields.iter().filter(|field| field.kind == FieldKind::Number).collect()
}

/// The field of the first measure that there is.
pub fn measured<'f>(
    fields: &[&'f Field],
    measures: &[&str],
    direction: Option<Direction>,
) -> Result<&'f Field, Problem> {
    for measure in measures {
        let stem = crate::stems::stem(measure);
        match resolve(fields, &[stem.as_str()], direction) {
            Ok(field) => return Ok(field),
            Err(NoField::Unknown) => {}
            Err(NoField::Several(choices)) => {
                return Err(Problem::Several { what: format!("the {measure}"), choices });
            }
        }
    }
    Err(Problem::Unused(measures.iter().take(1).map(|measure| (*measure).to_owned()).collect()))
}

fn operator_words(operator: Operator) -> &'static str {
    match operator {
        Operator::Above => "above",
        Operator::Below => "below",
        Operator::AtLeast => "at least",
        Operator::AtMost => "at most",
        Operator::Equals => "equal to",
    }
}
