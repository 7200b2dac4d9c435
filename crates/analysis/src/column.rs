//! A named column. Its values are shared, so that cloning and renaming are cheap.

use std::sync::Arc;

use crate::kind::Kind;
use crate::texts::Texts;
use crate::values::Values;

/// The index of a row. Tables are bounded far below what it can hold.
pub(crate) type Row = u32;

/// A name, and values of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    name: String,
    values: Arc<Values>,
}

impl Column {
    pub(crate) fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), values: Arc::new(values) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    pub(crate) fn kind(&self) -> Kind {
        self.values.kind()
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The values of a column of text.
    pub(crate) fn texts(&self) -> Option<&Texts> {
        match self.values() {
            Values::Texts(texts) => Some(texts),
            Values::Booleans(_)
            | Values::Integers(_)
            | Values::Numbers(_)
            | Values::Dates(_)
            | Values::Datetimes(_)
            | Values::Null(_) => None,
        }
    }

    /// The values of a column of numbers with fractions.
    pub(crate) fn floats(&self) -> Option<&[Option<f64>]> {
        match self.values() {
            Values::Numbers(list) => Some(list),
            Values::Booleans(_)
            | Values::Integers(_)
            | Values::Texts(_)
            | Values::Dates(_)
            | Values::Datetimes(_)
            | Values::Null(_) => None,
        }
    }

    /// Whether nothing but missing values is in it, which a column without rows is too.
    pub(crate) fn is_all_missing(&self) -> bool {
        (0..self.len()).all(|row| self.values.is_missing(row))
    }

    pub(crate) fn renamed(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// These rows in this order.
    pub(crate) fn take(&self, rows: &[Row]) -> Self {
        self.with_values(self.values.take(rows.iter().map(|row| Some(*row as usize))))
    }

    /// These rows in this order; `None` gives a missing value.
    pub(crate) fn take_or_missing(&self, rows: &[Option<Row>]) -> Self {
        self.with_values(self.values.take(rows.iter().map(|row| row.map(|row| row as usize))))
    }

    fn with_values(&self, values: Values) -> Self {
        Self::new(self.name.as_str(), values)
    }
}

pub(crate) fn row_index(row: usize) -> Row {
    Row::try_from(row).unwrap_or(Row::MAX)
}
