//! Tables that turn into cards at phone width.

use maud::{Markup, html};

/// The head of a column.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    name: &'static str,
    is_number: bool,
}

/// A column of words.
pub(crate) const fn cell(name: &'static str) -> Column {
    Column { name, is_number: false }
}

/// A column of numbers: set to the right.
pub(crate) const fn number(name: &'static str) -> Column {
    Column { name, is_number: true }
}

/// Each row has one value for each column. `caption` says to screen readers what this is.
pub(crate) fn table(caption: &str, columns: &[Column], rows: impl Iterator<Item = Vec<Markup>>) -> Markup {
    html! {
        table {
            caption.unseen { (caption) }
            thead {
                tr {
                    @for column in columns {
                        th scope="col" .number[column.is_number] { (column.name) }
                    }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        @for (column, value) in columns.iter().zip(&row) {
                            td data-label=(column.name) .number[column.is_number] { div { (value) } }
                        }
                    }
                }
            }
        }
    }
}
