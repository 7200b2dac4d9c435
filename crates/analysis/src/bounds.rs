//! Every bound on what an analysis takes, with its reason.

/// Steps in one request: more than any job needs, few enough to be read in an error.
pub(crate) const STEPS_MAX: usize = 100;
/// Bytes of a request: it is written by a model, the data travels beside it.
pub(crate) const REQUEST_BYTES_MAX: usize = 1024 * 1024;
/// Rows of a table: row indices are 32 bits wide, and a join can multiply rows.
pub(crate) const ROWS_MAX: usize = 50_000_000;
/// Columns of a table: objects with keys that are data would make one for each row.
pub(crate) const COLUMNS_MAX: usize = 2_000;
/// Nesting of a JSON text: the reader calls itself for each level.
pub(crate) const DEPTH_MAX: usize = 100;
/// Nesting of conditions and of expressions, for the same reason.
pub(crate) const CONDITION_DEPTH_MAX: usize = 50;
/// Bytes that a compiled pattern may take.
pub(crate) const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Letters of an expression.
pub(crate) const EXPRESSION_BYTES_MAX: usize = 10_000;
/// Notes in one answer: each is read by a model.
pub(crate) const NOTES_MAX: usize = 20;
/// Notes that an error passes on: what may explain it, and no more.
pub(crate) const NOTES_WITH_PROBLEM_MAX: usize = 3;
/// Examples for each failed check.
pub(crate) const EXAMPLES_MAX: usize = 100;
/// Fields in one correlation: the matrix grows with the square.
pub(crate) const CORRELATED_FIELDS_MAX: usize = 100;
/// Cells of a contingency table.
pub(crate) const CONTINGENCY_CELLS_MAX: usize = 100_000;
/// Groups of an analysis of variance: each is in the report.
pub(crate) const ANOVA_GROUPS_MAX: usize = 1_000;
/// Bytes of a text cell that an error or a report shows.
pub(crate) const SHOWN_BYTES_MAX: usize = 200;
