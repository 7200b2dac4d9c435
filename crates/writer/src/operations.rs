//! What is done with an answer: the phrases of the sentence held against the fields that there are.

use serde_json::Value;

use crate::early::{Aggregate, Early, ExtremeAt, Operator};
use crate::field_phrases::{measured, numbers};
use crate::fields::{Field, FieldKind};
use crate::lexicon::{self, Direction};
use crate::reading::{Problem, Reading, Role, ToolWords};
use crate::sentence::next_content;
use crate::shape::{Rows, Shape};

/// Rows that are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    pub field: Field,
    pub operator: Operator,
    pub value: Value,
}

/// What becomes of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// As it is.
    Answer,
    /// These fields of it.
    Pick(Vec<Field>),
    /// Its rows, or these fields of them.
    List(Vec<Field>),
    Count {
        group: Option<Field>,
    },
    Aggregate {
        kind: Aggregate,
        field: Field,
        group: Option<Field>,
    },
    /// The rows at one end of an order; one row without a count.
    Top {
        count: Option<u64>,
        field: Field,
        direction: Direction,
    },
}

/// Everything that is done with one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub filters: Vec<Filter>,
    pub then: Then,
}

/// Holds the phrases against the shape; takes the words of every field that is meant. `given` are the words of the
/// parameters that the call has.
pub fn operation(
    reading: &mut Reading<'_>,
    early: &Early,
    shape: Option<&Shape>,
    tool: &ToolWords,
    given: &[Vec<String>],
) -> Result<Operation, Problem> {
    if early.is_double || early.questions() > 1 {
        return Err(Problem::TwoQuestions);
    }
    let is_plain = early.questions() == 0 && early.comparisons.is_empty() && !early.must_group;
    let Some(shape) = shape else {
        let then = is_plain.then_some(Then::Answer).ok_or(Problem::UnknownShape)?;
        return Ok(Operation { filters: Vec::new(), then });
    };
    let mut parser = Parser { reading, shape, tool, given };
    if let Some(then) = parser.of_record(early)? {
        // One field answers one question, and nothing beside it.
        let is_alone = early.comparisons.is_empty() && !early.must_group;
        return is_alone.then_some(Operation { filters: Vec::new(), then }).ok_or(Problem::TwoQuestions);
    }
    let Some(rows) = &shape.rows else {
        let then = if is_plain { parser.shown(None, false)? } else { return Err(Problem::UnknownShape) };
        return Ok(Operation { filters: Vec::new(), then });
    };
    let mut filters = Vec::new();
    for comparison in &early.comparisons {
        filters.push(parser.comparison(rows, comparison)?);
    }
    filters.extend(parser.chosen(rows)?);
    let group = parser.group(rows, early)?;
    let then = parser.then(rows, early, group, !filters.is_empty())?;
    parser.take_rows_words(rows);
    Ok(Operation { filters, then })
}

/// The sentence and the shape that it is held against.
pub struct Parser<'p, 't> {
    pub reading: &'p mut Reading<'t>,
    pub shape: &'p Shape,
    pub tool: &'p ToolWords,
    pub given: &'p [Vec<String>],
}

impl Parser<'_, '_> {
    /// Questions that a field of the answer itself settles: `how big`, `how many rows`, `the median`.
    fn of_record(&mut self, early: &Early) -> Result<Option<Then>, Problem> {
        let fields: Vec<&Field> = self.shape.fields.iter().filter(|field| !self.is_echo(field)).collect();
        if let Some(at) = early.degree {
            let word = self.reading.lower(at);
            let measures = lexicon::adjective(word).map_or(&[][..], |adjective| adjective.measures);
            let field = measured(&fields, measures, None)?;
            self.reading.assume(format!("I took `{}` for “{word}”.", field.name));
            return Ok(Some(Then::Pick(vec![field.clone()])));
        }
        if let Some(at) = early.count {
            let noun =
                next_content(self.reading.tokens, at).map(|at| (at, self.reading.tokens[at].stem.clone()));
            let Some((at, stem)) = noun else { return Ok(None) };
            let is_rows = self.shape.rows.as_ref().is_some_and(|rows| rows.words.contains(&stem));
            let is_it = |field: &&&Field| field.kind == FieldKind::Number && field.words == [stem.as_str()];
            if let (Some(field), false) = (fields.iter().find(is_it), is_rows) {
                self.reading.take(at, Role::Field);
                return Ok(Some(Then::Pick(vec![(*field).clone()])));
            }
        }
        // A tool that computes has fields with the names of what is asked.
        if self.shape.rows.is_none() {
            let at =
                early.aggregate.map(|aggregate| aggregate.at).or(early.extreme.map(|extreme| extreme.at));
            if let Some(at) = at {
                let stem = self.reading.tokens[at].stem.as_str();
                let field = fields.iter().find(|field| field.words == [stem]).ok_or(Problem::UnknownShape)?;
                return Ok(Some(Then::Pick(vec![(*field).clone()])));
            }
        }
        Ok(None)
    }

    /// Whether a field only repeats what the call was given: no answer to anything.
    pub fn is_echo(&self, field: &Field) -> bool {
        field.kind != FieldKind::Other && self.given.contains(&field.all_words)
    }

    /// The field after `by` or `each`. A noun there that is no field is a question that can't be answered.
    fn group(&mut self, rows: &Rows, early: &Early) -> Result<Option<Field>, Problem> {
        let Some(at) = early.group.filter(|_| !early.extreme.is_some_and(|extreme| extreme.is_top)) else {
            return Ok(None);
        };
        let noun = next_content(self.reading.tokens, at).filter(|at| self.reading.is_free_word(*at));
        let Some(at) = noun else {
            return if early.must_group { Err(Problem::Unused(vec!["each".to_owned()])) } else { Ok(None) };
        };
        let token = &self.reading.tokens[at];
        let is_text = |field: &Field| matches!(field.kind, FieldKind::Text | FieldKind::Choice(_));
        let is_it = |field: &&Field| is_text(field) && field.words == [token.stem.as_str()];
        let mut named = rows.fields.iter().filter(is_it);
        let (Some(field), None) = (named.next(), named.next()) else {
            return Err(Problem::Unused(vec![token.text.clone()]));
        };
        self.reading.take(at, Role::Field);
        self.reading.take(at.saturating_sub(1), Role::Operation);
        self.reading.assume(format!("I grouped the rows by `{}`.", field.name));
        Ok(Some(field.clone()))
    }

    fn then(
        &mut self,
        rows: &Rows,
        early: &Early,
        group: Option<Field>,
        is_filtered: bool,
    ) -> Result<Then, Problem> {
        if let Some(at) = early.count {
            self.take_noun(rows, at)?;
            return Ok(Then::Count { group });
        }
        if let Some(aggregate) = early.aggregate {
            let field = self.phrase_beginning(&numbers(rows), aggregate.at + 1, None)?;
            let field = field.ok_or_else(|| self.unknown_field(aggregate.at + 1))?;
            return Ok(Then::Aggregate { kind: aggregate.kind, field, group });
        }
        if let Some(extreme) = early.extreme {
            return self.extreme(rows, early, extreme, group);
        }
        if group.is_some() {
            return Err(Problem::TwoQuestions);
        }
        self.shown(Some(rows), is_filtered)
    }

    fn extreme(
        &mut self,
        rows: &Rows,
        early: &Early,
        extreme: ExtremeAt,
        group: Option<Field>,
    ) -> Result<Then, Problem> {
        let numbers = numbers(rows);
        let field = if extreme.is_top {
            let at = early.group.ok_or_else(|| self.unknown_field(extreme.at))?;
            let field = self.phrase_beginning(&numbers, at, None)?;
            self.reading.take(at - 1, Role::Operation);
            field
        } else if extreme.measures.is_empty() {
            self.phrase_beginning(&numbers, extreme.at + 1, Some(extreme.direction))?
        } else {
            let field = measured(&numbers, extreme.measures, Some(extreme.direction))?;
            let word = self.reading.lower(extreme.at);
            self.reading.assume(format!("I took `{}` for “{word}”.", field.name));
            Some(field.clone())
        };
        let field = field.ok_or_else(|| self.unknown_field(extreme.at))?;
        let direction = extreme.direction;
        match (extreme.wants_rows, group) {
            (true, None) => Ok(Then::Top { count: extreme.count, field, direction }),
            (true, Some(_)) => Err(Problem::TwoQuestions),
            (false, group) => {
                let kind = if direction == Direction::Up { Aggregate::Max } else { Aggregate::Min };
                Ok(Then::Aggregate { kind, field, group })
            }
        }
    }

    /// The noun of `how many` must be what the rows are.
    fn take_noun(&mut self, rows: &Rows, at: usize) -> Result<(), Problem> {
        let Some(at) = next_content(self.reading.tokens, at).filter(|at| self.reading.is_free_word(*at))
        else {
            return Ok(());
        };
        let token = &self.reading.tokens[at];
        let is_rows =
            [&rows.words, &rows.about, &self.tool.name].iter().any(|words| words.contains(&token.stem));
        if !is_rows {
            return Err(Problem::Unused(vec![token.text.clone()]));
        }
        self.reading.take(at, Role::Field);
        Ok(())
    }

    /// What the rows are called may be said again.
    fn take_rows_words(&mut self, rows: &Rows) {
        for index in 0..self.reading.tokens.len() {
            let stem = &self.reading.tokens[index].stem;
            if self.reading.is_free_word(index) && rows.words.contains(stem) {
                self.reading.take(index, Role::Field);
            }
        }
    }

    fn unknown_field(&self, at: usize) -> Problem {
        let at = next_content(self.reading.tokens, at);
        let word = at.map_or_else(String::new, |at| self.reading.tokens[at].text.clone());
        Problem::Unused(vec![word])
    }
}
