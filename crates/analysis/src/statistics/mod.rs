//! Numbers about numbers, over plain lists without missing values. Pure: no table, no column.

pub(crate) mod comparisons;
pub(crate) mod distributions;
pub(crate) mod integers;
pub(crate) mod relation;
pub(crate) mod summary;
