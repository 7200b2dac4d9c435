//! Numbers from the sentence: by the name beside them, as spans of days, as lists.

use serde_json::{Number, Value};

use crate::arguments::Filling;
use crate::kinds::{Parameter, ParameterKind, Range};
use crate::lexicon;
use crate::reading::{Problem, Role};
use crate::sentence::{Kind, Token};

/// Numbers of one list.
const NUMBERS_MAX: usize = 100;

impl Filling<'_, '_> {
    /// Fills every parameter that takes a number.
    pub fn numbers(&mut self) -> Result<(), Problem> {
        for parameter in self.open(|_| true) {
            match parameter.kind {
                ParameterKind::Number(range) | ParameterKind::Paging(range) => {
                    self.number(parameter, range)?
                }
                ParameterKind::Numbers => self.number_list(parameter),
                _ => {}
            }
        }
        Ok(())
    }

    fn number(&mut self, parameter: &Parameter, range: Range) -> Result<(), Problem> {
        if self.span_of_days(parameter, range)? {
            return Ok(());
        }
        let free = self.reading.free(|token| token.number().is_some());
        let named = free.iter().copied().find(|index| self.is_named_beside(parameter, *index, *index + 1));
        let digits: Vec<usize> = free
            .iter()
            .copied()
            .filter(|index| matches!(self.reading.tokens[*index].kind, Kind::Number(_)))
            .collect();
        let index = match (named, digits.as_slice(), &parameter.kind) {
            (Some(index), _, _) => index,
            (None, [index], ParameterKind::Number(_)) if parameter.required => *index,
            _ => return Ok(()),
        };
        let Some(number) = self.reading.tokens[index].number() else { return Ok(()) };
        self.give_number(parameter, range, number, index, index + 1)?;
        self.take_direction(parameter, index);
        Ok(())
    }

    fn give_number(
        &mut self,
        parameter: &Parameter,
        range: Range,
        number: Number,
        from: usize,
        to: usize,
    ) -> Result<(), Problem> {
        if !number.as_f64().is_some_and(|number| range.allows(number)) {
            return Err(Problem::NotAllowed { parameter: parameter.name.clone(), value: number.to_string() });
        }
        self.give(parameter, Value::Number(number), from, to);
        Ok(())
    }

    /// `the next two weeks` is 14 days, `the coming week` 7.
    fn span_of_days(&mut self, parameter: &Parameter, range: Range) -> Result<bool, Problem> {
        let counts_days = parameter.words.iter().any(|word| word == "day");
        let weeks = self.reading.free(|token| matches!(token.lower.as_str(), "week" | "weeks"));
        let ([week], true) = (weeks.as_slice(), counts_days) else { return Ok(false) };
        let Some(before) = week.checked_sub(1) else { return Ok(false) };
        let number = self.reading.tokens[before].number().and_then(|number| number.as_u64());
        let from = if number.is_some() { before } else { *week };
        let is_led = from.checked_sub(1).is_some_and(|before| self.is_direction(before));
        // `this week` has days that are gone.
        let (true, Some(days)) = (is_led, number.unwrap_or(1).checked_mul(7)) else { return Ok(false) };
        self.give_number(parameter, range, Number::from(days), from, week + 1)?;
        self.take_direction(parameter, from);
        Ok(true)
    }

    fn is_direction(&self, index: usize) -> bool {
        matches!(
            self.reading.lower(index),
            "next" | "coming" | "upcoming" | "following" | "last" | "past" | "previous"
        )
    }

    /// `next` and `last` before a span are used only if the tool looks that way.
    fn take_direction(&mut self, parameter: &Parameter, from: usize) {
        let Some(before) = from.checked_sub(1) else { return };
        let mut words = self.tool.all();
        words.extend(parameter.about.iter().cloned());
        let fits = match self.reading.lower(before) {
            "next" | "coming" | "upcoming" | "following" => lexicon::looks_ahead(&words),
            "last" | "past" | "previous" => lexicon::looks_back(&words) && !lexicon::looks_ahead(&words),
            _ => false,
        };
        if fits {
            self.reading.take(before, Role::ArgumentName);
        }
    }

    /// Numbers with nothing but commas and `and` between them.
    fn number_list(&mut self, parameter: &Parameter) {
        let free = self.reading.free(|token| matches!(token.kind, Kind::Number(_)));
        let (Some(&first), Some(&last)) = (free.first(), free.last()) else { return };
        let tokens = &self.reading.tokens[first..=last];
        let joins = |token: &Token| {
            matches!(token.kind, Kind::Number(_)) || token.lower == "and" || token.text == ","
        };
        if free.len() > NUMBERS_MAX || !tokens.iter().all(joins) {
            return;
        }
        let numbers: Vec<Value> =
            tokens.iter().filter_map(|token| token.number().map(Value::Number)).collect();
        self.give(parameter, Value::Array(numbers), first, last + 1);
    }
}
