//! What is asked of the answer, found by fixed phrases before any argument is looked for: so that the `5` of
//! `more than 5` and of `the 5 largest` is nobody's argument.

use serde_json::Number;

use crate::lexicon::{self, Direction};
use crate::reading::{Reading, Role};
use crate::sentence::Token;

/// The most rows that `the N largest` may ask for.
const TOP_MAX: u64 = 10_000;

/// The phrases that were found.
#[derive(Clone, Debug, Default)]
pub struct Early {
    /// Where the noun of `how many` begins.
    pub count: Option<usize>,
    pub aggregate: Option<AggregateAt>,
    pub extreme: Option<ExtremeAt>,
    pub comparisons: Vec<ComparisonAt>,
    /// Where the noun of `for each` or `by` begins.
    pub group: Option<usize>,
    /// `how big`: the place of the adjective.
    pub degree: Option<usize>,
    /// Whether `each` or `per` demands that group.
    pub must_group: bool,
    /// Whether a phrase came twice.
    pub is_double: bool,
}

/// `average`, `sum`: what, and where its field begins.
#[derive(Clone, Copy, Debug)]
pub struct AggregateAt {
    pub kind: Aggregate,
    pub at: usize,
}

/// What is made of many numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    Sum,
    Mean,
    Max,
    Min,
}

/// `the three warmest`, `the most`, `top 5`.
#[derive(Clone, Copy, Debug)]
pub struct ExtremeAt {
    /// The superlative, or the number of `top 5`.
    pub at: usize,
    pub count: Option<u64>,
    pub direction: Direction,
    /// What it measures, if the word says so.
    pub measures: &'static [&'static str],
    /// Whether rows are wanted rather than the value: `with the most`, `the 3 …`.
    pub wants_rows: bool,
    /// `top N`, whose field comes after `by`.
    pub is_top: bool,
}

/// `more than 150`.
#[derive(Clone, Debug)]
pub struct ComparisonAt {
    pub operator: Operator,
    pub number: Number,
    /// Where the phrase begins.
    pub from: usize,
    /// Behind the number.
    pub to: usize,
    pub measures: &'static [&'static str],
}

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Above,
    Below,
    AtLeast,
    AtMost,
    Equals,
}

impl Early {
    /// How many questions there are.
    pub fn questions(&self) -> usize {
        let asked =
            [self.count.is_some(), self.aggregate.is_some(), self.extreme.is_some(), self.degree.is_some()];
        asked.into_iter().filter(|asked| *asked).count()
    }
}

/// Finds the phrases and takes their words.
pub fn early(reading: &mut Reading<'_>) -> Early {
    let mut early = Early::default();
    for index in 0..reading.tokens.len() {
        if !reading.is_free(index) {
            continue;
        }
        comparison(reading, index, &mut early);
        count(reading, index, &mut early);
        extreme(reading, index, &mut early);
        aggregate(reading, index, &mut early);
        group(reading, index, &mut early);
        degree(reading, index, &mut early);
    }
    early
}

fn comparison(reading: &mut Reading<'_>, index: usize, early: &mut Early) {
    let (first, second) = (reading.lower(index), reading.lower(index + 1));
    let compared = lexicon::adjective(first).filter(|adjective| adjective.forms[1] == first);
    let (operator, length, measures): (Operator, usize, &'static [&'static str]) = match (first, second) {
        ("above" | "over" | "exceeding", _) => (Operator::Above, 1, &[]),
        ("below" | "under", _) => (Operator::Below, 1, &[]),
        ("more", "than") => (Operator::Above, 2, &[]),
        ("less", "than") => (Operator::Below, 2, &[]),
        ("at", "least") => (Operator::AtLeast, 2, &[]),
        ("at", "most") => (Operator::AtMost, 2, &[]),
        (_, "than") => match compared {
            Some(adjective) if adjective.direction == Direction::Up => {
                (Operator::Above, 2, adjective.measures)
            }
            Some(adjective) => (Operator::Below, 2, adjective.measures),
            None => return,
        },
        _ => return,
    };
    // `no more than` is the opposite.
    let is_negated = index.checked_sub(1).is_some_and(|before| matches!(reading.lower(before), "no" | "not"));
    let Some(number) = reading.tokens.get(index + length).and_then(Token::number).filter(|_| !is_negated)
    else {
        return;
    };
    let to = index + length + 1;
    reading.take_all(index..to, Role::Operation);
    early.comparisons.push(ComparisonAt { operator, number, from: index, to, measures });
}

fn count(reading: &mut Reading<'_>, index: usize, early: &mut Early) {
    let length = match (reading.lower(index), reading.lower(index + 1)) {
        ("how", "many") | ("number", "of") => 2,
        ("count", _) => 1,
        _ => return,
    };
    reading.take_all(index..index + length, Role::Operation);
    early.is_double |= early.count.is_some();
    early.count = Some(index + length);
}

fn extreme(reading: &mut Reading<'_>, index: usize, early: &mut Early) {
    if !reading.is_free(index) {
        return;
    }
    let before = index.checked_sub(1);
    let number_at = |at: Option<usize>| {
        let token = at.and_then(|at| reading.tokens.get(at))?;
        token.number().and_then(|number| number.as_u64()).filter(|count| (1..=TOP_MAX).contains(count))
    };
    let found = if reading.lower(index) == "top" {
        let Some(count) = number_at(Some(index + 1)) else { return };
        reading.take(index + 1, Role::Operation);
        ExtremeAt {
            at: index + 1,
            count: Some(count),
            direction: Direction::Up,
            measures: &[],
            wants_rows: true,
            is_top: true,
        }
    } else if let Some(adjective) = lexicon::superlative(reading.lower(index)) {
        let with = (0..index).rev().take(2).find(|at| matches!(reading.lower(*at), "with" | "having"));
        let beside = before.filter(|before| number_at(Some(*before)).is_some());
        // `the 3 orders with the highest price`
        let is_count = |at: &usize| reading.is_free(*at) && number_at(Some(*at)).is_some();
        let counted = beside.or_else(|| with.and_then(|with| (0..with).rev().take(3).find(is_count)));
        let count = number_at(counted);
        if let Some(counted) = counted {
            reading.take(counted, Role::Operation);
        }
        ExtremeAt {
            at: index,
            count,
            direction: adjective.direction,
            measures: adjective.measures,
            wants_rows: count.is_some() || with.is_some() || !adjective.measures.is_empty(),
            is_top: false,
        }
    } else {
        return;
    };
    reading.take(index, Role::Operation);
    // `the average maximum temperature` is one question: the second word belongs to the field.
    if early.aggregate.is_some() && !found.wants_rows {
        return;
    }
    early.is_double |= early.extreme.is_some();
    early.extreme = Some(found);
}

fn aggregate(reading: &mut Reading<'_>, index: usize, early: &mut Early) {
    if !reading.is_free(index) {
        return;
    }
    let kind = match (reading.lower(index), reading.lower(index + 1)) {
        // The total number is a count.
        ("total", "number") => {
            reading.take(index, Role::Neutral);
            return;
        }
        ("total" | "sum", _) => Aggregate::Sum,
        ("average" | "mean", _) => Aggregate::Mean,
        _ => return,
    };
    reading.take(index, Role::Operation);
    early.is_double |= early.aggregate.is_some();
    early.aggregate = Some(AggregateAt { kind, at: index });
}

fn group(reading: &mut Reading<'_>, index: usize, early: &mut Early) {
    if !reading.is_free(index) {
        return;
    }
    let length = match (reading.lower(index), reading.lower(index + 1)) {
        ("for" | "in" | "of" | "by", "each") => 2,
        ("per" | "each", _) => 1,
        ("grouped", "by") => 2,
        ("by", _) => 1,
        _ => return,
    };
    early.is_double |= early.group.is_some();
    early.group = Some(index + length);
    // `by` is taken only if a field follows; the others must be.
    if reading.lower(index) != "by" || length == 2 {
        reading.take_all(index..index + length, Role::Operation);
        early.must_group = true;
    }
}

fn degree(reading: &mut Reading<'_>, index: usize, early: &mut Early) {
    if reading.lower(index) != "how" || !reading.is_free(index) {
        return;
    }
    let adjective = lexicon::adjective(reading.lower(index + 1));
    if adjective.is_some_and(|adjective| adjective.forms[0] == reading.lower(index + 1)) {
        reading.take_all(index..index + 2, Role::Operation);
        early.degree = Some(index + 1);
    }
}
