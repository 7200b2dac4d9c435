//! Rows that belong together.

use polars_core::frame::group_by::{GroupsIndicator, GroupsType};
use polars_core::prelude::*;

use crate::outcome::Problem;
use crate::table::{Table, engine_problem};

/// Rows by group, the groups in the order of their first rows.
#[derive(Debug)]
pub(super) struct Groups {
    rows: Vec<IdxSize>,
    /// Where each group ends in `rows`.
    ends: Vec<usize>,
}

impl Groups {
    /// Rows with the same values in all of these fields. A missing value is a value of its own here.
    pub(super) fn by(table: &Table, fields: &[String]) -> Result<Self, Problem> {
        let keys = fields.iter().map(|field| table.column(field).cloned()).collect::<Result<Vec<_>, _>>()?;
        if table.rows() == 0 {
            return Ok(Self { rows: Vec::new(), ends: Vec::new() });
        }
        if keys.iter().all(|key| key.dtype() == &DataType::Null) {
            return Ok(Self::all(table.rows()));
        }
        let grouped = table.frame.group_by_with_series(keys, true, true).map_err(engine_problem)?;
        Ok(Self::of(grouped.get_groups()))
    }

    /// All rows as one group, even if there are none.
    pub(super) fn all(rows: usize) -> Self {
        Self { rows: (0..index(rows)).collect(), ends: vec![rows] }
    }

    /// Groups from the group's number of each row; `count` is how many groups there are.
    pub(super) fn numbered(numbers: &[Option<usize>], count: usize) -> Self {
        let mut lists: Vec<Vec<IdxSize>> = vec![Vec::new(); count];
        for (row, number) in numbers.iter().enumerate() {
            if let Some(list) = number.and_then(|number| lists.get_mut(number)) {
                list.push(index(row));
            }
        }
        let mut groups = Self { rows: Vec::with_capacity(numbers.len()), ends: Vec::with_capacity(count) };
        for list in lists {
            groups.rows.extend(list);
            groups.ends.push(groups.rows.len());
        }
        groups
    }

    fn of(groups: &GroupsType) -> Self {
        let mut own = Self { rows: Vec::new(), ends: Vec::with_capacity(groups.len()) };
        for group in groups.iter() {
            match group {
                GroupsIndicator::Idx((_, rows)) => own.rows.extend_from_slice(rows),
                GroupsIndicator::Slice([first, count]) => own.rows.extend(first..first + count),
            }
            own.ends.push(own.rows.len());
        }
        own
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The rows of each group.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[IdxSize]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.rows.get(start..*end).unwrap_or_default())
    }

    /// The first row of each group, as something to take.
    pub(super) fn firsts(&self) -> IdxCa {
        IdxCa::from_iter_options(PlSmallStr::EMPTY, self.iter().map(|rows| rows.first().copied()))
    }
}

/// A row's number; tables are bounded far below what it can hold.
pub(super) fn index(row: usize) -> IdxSize {
    IdxSize::try_from(row).unwrap_or(IdxSize::MAX)
}
