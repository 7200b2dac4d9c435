//! Rows that belong together.

use crate::column::{Row, row_index};
use crate::factorize::factorize_rows;
use crate::outcome::Problem;
use crate::table::Table;

/// Rows by group, the groups in the order of their first rows.
#[derive(Debug)]
pub(super) struct Groups {
    rows: Vec<Row>,
    /// Where each group ends in `rows`.
    ends: Vec<usize>,
}

impl Groups {
    /// Rows with the same values in all of these fields. A missing value is a value of its own here.
    pub(super) fn by(table: &Table, fields: &[String]) -> Result<Self, Problem> {
        let keys = fields
            .iter()
            .map(|field| table.column(field).map(|column| column.values()))
            .collect::<Result<Vec<_>, _>>()?;
        let (numbers, count) = factorize_rows(&keys);
        Ok(Self::collected(numbers.len(), count, |row| numbers.get(row).map(|number| *number as usize)))
    }

    /// All rows as one group, even if there are none.
    pub(super) fn all(rows: usize) -> Self {
        Self { rows: (0..row_index(rows)).collect(), ends: vec![rows] }
    }

    /// Groups from the group's number of each row; `count` is how many groups there are.
    pub(super) fn numbered(numbers: &[Option<usize>], count: usize) -> Self {
        Self::collected(numbers.len(), count, |row| numbers.get(row).copied().flatten())
    }

    /// The rows of each group one after the other, by counting first how many each has.
    fn collected(rows: usize, count: usize, group_of: impl Fn(usize) -> Option<usize>) -> Self {
        let mut ends = vec![0; count];
        for row in 0..rows {
            if let Some(size) = group_of(row).and_then(|group| ends.get_mut(group)) {
                *size += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            let size = *end;
            *end = total;
            total += size;
        }
        // Until here the ends are beginnings; each row that is put down moves its group's on.
        let mut collected = vec![0; total];
        for row in 0..rows {
            if let Some(place) = group_of(row).and_then(|group| ends.get_mut(group)) {
                collected[*place] = row_index(row);
                *place += 1;
            }
        }
        Self { rows: collected, ends }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The rows of each group.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[Row]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.rows.get(start..*end).unwrap_or_default())
    }

    /// The first row of each group that has one.
    pub(super) fn first_rows(&self) -> Vec<Row> {
        self.iter().filter_map(|rows| rows.first().copied()).collect()
    }
}
