//! Cells, one after the other, as the values of a column.

use super::operands::kind_of;
use crate::outcome::Problem;
use crate::texts::TextsBuilder;
use crate::values::{Cell, Values};

/// Collects cells of one kind; whole numbers and fractions together are numbers.
pub(super) enum CellsBuilder {
    /// So many missing values, and nothing else yet.
    Null(usize),
    Texts(TextsBuilder, usize),
    Values(Values),
}

impl Default for CellsBuilder {
    fn default() -> Self {
        Self::Null(0)
    }
}

impl CellsBuilder {
    /// # Errors
    /// The cell is of another kind than those before it.
    pub(super) fn push(&mut self, cell: Cell) -> Result<(), Problem> {
        match (&mut *self, cell) {
            (Self::Null(count), Cell::Missing) => *count += 1,
            (Self::Null(count), cell) => *self = Self::begun(*count, cell),
            (Self::Texts(builder, count), Cell::Text(text)) => {
                builder.push(Some(&text));
                *count += 1;
            }
            (Self::Texts(builder, count), Cell::Missing) => {
                builder.push(None);
                *count += 1;
            }
            (Self::Texts(_, count), cell) => return Err(mixture(*count, "text", &cell)),
            (Self::Values(values), cell) => return push(values, cell),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Values {
        match self {
            Self::Null(count) => Values::Null(count),
            Self::Texts(builder, _) => Values::Texts(builder.finish()),
            Self::Values(values) => values,
        }
    }

    fn begun(missing: usize, cell: Cell) -> Self {
        fn after<T: Clone>(missing: usize, value: T) -> Vec<Option<T>> {
            let mut list = vec![None; missing];
            list.push(Some(value));
            list
        }
        Self::Values(match cell {
            Cell::Missing => return Self::Null(missing + 1),
            Cell::Text(text) => {
                let mut builder = TextsBuilder::after_missing(missing);
                builder.push(Some(&text));
                return Self::Texts(builder, missing + 1);
            }
            Cell::Boolean(value) => Values::Booleans(after(missing, value)),
            Cell::Integer(value) => Values::Integers(after(missing, value)),
            Cell::Number(value) => Values::Numbers(after(missing, value)),
            Cell::Date(value) => Values::Dates(after(missing, value)),
            Cell::Datetime(value) => Values::Datetimes(after(missing, value)),
        })
    }
}

fn push(values: &mut Values, cell: Cell) -> Result<(), Problem> {
    match (&mut *values, cell) {
        (Values::Booleans(list), Cell::Boolean(value)) => list.push(Some(value)),
        (Values::Integers(list), Cell::Integer(value)) => list.push(Some(value)),
        (Values::Integers(list), Cell::Number(value)) => {
            let mut numbers: Vec<Option<f64>> =
                list.iter().map(|value| value.map(|value| value as f64)).collect();
            numbers.push(Some(value));
            *values = Values::Numbers(numbers);
        }
        (Values::Numbers(list), Cell::Integer(value)) => list.push(Some(value as f64)),
        (Values::Numbers(list), Cell::Number(value)) => list.push(Some(value)),
        (Values::Dates(list), Cell::Date(value)) => list.push(Some(value)),
        (Values::Datetimes(list), Cell::Datetime(value)) => list.push(Some(value)),
        (Values::Booleans(list), Cell::Missing) => list.push(None),
        (Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list), Cell::Missing) => {
            list.push(None)
        }
        (Values::Numbers(list), Cell::Missing) => list.push(None),
        (values, cell) => return Err(mixture(values.len(), values.kind().as_str(), &cell)),
    }
    Ok(())
}

fn mixture(rows: usize, before: &str, cell: &Cell) -> Problem {
    let message = format!(
        "row {}: the expression is {} here but {before} above; a column has one type",
        rows + 1,
        kind_of(cell)
    );
    Problem::new(message).hint("use text(...) or number(...) on one of the branches")
}
