//! Tables for people: headings, columns that fit the terminal, cells that wrap between words.
//!
//! A terminal that is too narrow for the columns gets a block for each row instead.

use gristmill_gateway::domain::cut_to_width;

use crate::terminal::{columns, wrapped};

/// Between two columns.
const GAP: usize = 2;

/// A column that gives way keeps at least this much.
const SHRUNK_MIN: usize = 14;

/// What becomes of a cell that is wider than its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// The column is as wide as its widest cell.
    Whole,
    /// The cell continues on the next line.
    Wrap,
    /// The cell ends with `…`.
    Cut,
}

#[derive(Clone, Copy, Debug)]
pub struct Column {
    heading: &'static str,
    is_right: bool,
    fit: Fit,
}

impl Column {
    pub const fn left(heading: &'static str) -> Self {
        Self { heading, is_right: false, fit: Fit::Whole }
    }

    /// For numbers, which stand under each other's last digit.
    pub const fn right(heading: &'static str) -> Self {
        Self { heading, is_right: true, fit: Fit::Whole }
    }

    pub const fn wrapping(heading: &'static str) -> Self {
        Self { heading, is_right: false, fit: Fit::Wrap }
    }

    pub const fn cut(heading: &'static str) -> Self {
        Self { heading, is_right: false, fit: Fit::Cut }
    }
}

/// Cells must be harmless for a terminal already.
#[derive(Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    cells: Vec<String>,
    /// Whole lines below the row.
    notes: Vec<String>,
}

impl Table {
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(Row { cells: cells.into_iter().collect(), notes: Vec::new() });
    }

    /// A line below the last row.
    pub fn note(&mut self, text: impl Into<String>) {
        if let Some(row) = self.rows.last_mut() {
            row.notes.push(text.into());
        }
    }

    /// On standard output, at the terminal's width.
    pub fn print(&self) {
        self.lines(columns(std::io::stdout())).iter().for_each(|line| println!("{line}"));
    }

    /// No wider than `width`; as wide as it is without one.
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        let shown: Vec<usize> = (0..self.columns.len())
            .filter(|index| self.rows.iter().any(|row| row.cells.get(*index).is_some_and(|c| !c.is_empty())))
            .collect();
        match self.widths(&shown, width) {
            Some(widths) => self.aligned(&shown, &widths, width),
            None => self.stacked(&shown, width.unwrap_or(usize::MAX)),
        }
    }

    /// How wide each column is; none if they do not fit beside each other.
    fn widths(&self, shown: &[usize], width: Option<usize>) -> Option<Vec<usize>> {
        let natural = |index: &usize| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(*index)).map(|cell| chars(cell));
            cells.max().unwrap_or(0).max(chars(self.columns[*index].heading))
        };
        let mut widths: Vec<usize> = shown.iter().map(natural).collect();
        let Some(room) = width else { return Some(widths) };
        let room = room.saturating_sub(GAP * shown.len().saturating_sub(1));
        loop {
            let over = widths.iter().sum::<usize>().saturating_sub(room);
            if over == 0 {
                return Some(widths);
            }
            let gives_way =
                |at: &usize| self.columns[shown[*at]].fit != Fit::Whole && widths[*at] > SHRUNK_MIN;
            let widest = (0..widths.len()).filter(gives_way).max_by_key(|at| widths[*at])?;
            widths[widest] -= 1;
        }
    }

    fn aligned(&self, shown: &[usize], widths: &[usize], width: Option<usize>) -> Vec<String> {
        const NOTE_INDENT: usize = 2;
        let headings = shown.iter().map(|index| vec![self.columns[*index].heading.to_owned()]).collect();
        let mut lines = self.side_by_side(shown, widths, headings);
        for row in &self.rows {
            let cells = shown.iter().zip(widths).map(|(index, width)| {
                let cell = row.cells.get(*index).map_or("", String::as_str);
                match self.columns[*index].fit {
                    Fit::Whole => vec![cell.to_owned()],
                    Fit::Cut => vec![cut_to_width(cell, *width)],
                    Fit::Wrap => broken(cell, *width),
                }
            });
            lines.extend(self.side_by_side(shown, widths, cells.collect()));
            let room = width.map_or(usize::MAX, |width| width.saturating_sub(NOTE_INDENT).max(1));
            let notes = row.notes.iter().flat_map(|note| broken(note, room));
            lines.extend(notes.map(|line| format!("{:NOTE_INDENT$}{line}", "")));
        }
        lines
    }

    /// Cells of one row, each with its lines.
    fn side_by_side(&self, shown: &[usize], widths: &[usize], cells: Vec<Vec<String>>) -> Vec<String> {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| {
            let mut line = String::new();
            for ((index, width), cell) in shown.iter().zip(widths).zip(&cells) {
                let text = cell.get(at).map_or("", String::as_str);
                let pad = " ".repeat(width.saturating_sub(chars(text)));
                match self.columns[*index].is_right {
                    true => line.extend([pad.as_str(), text]),
                    false => line.extend([text, pad.as_str()]),
                }
                line.push_str(&" ".repeat(GAP));
            }
            line.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }

    /// A block for each row, a line for each cell that says something.
    fn stacked(&self, shown: &[usize], width: usize) -> Vec<String> {
        let heading_width = shown.iter().map(|index| chars(self.columns[*index].heading)).max().unwrap_or(0);
        let indent = heading_width + GAP;
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            if at > 0 {
                lines.push(String::new());
            }
            for index in shown {
                let cell = row.cells.get(*index).map_or("", String::as_str);
                for (piece_at, piece) in
                    broken(cell, width.saturating_sub(indent).max(1)).into_iter().enumerate()
                {
                    let heading = if piece_at == 0 { self.columns[*index].heading } else { "" };
                    lines.push(format!("{heading:<indent$}{piece}"));
                }
            }
            let notes = row.notes.iter().flat_map(|note| broken(note, width.saturating_sub(GAP).max(1)));
            lines.extend(notes.map(|line| format!("{:GAP$}{line}", "")));
        }
        lines
    }
}

/// Lines of a width, broken between words, and within a word only if it is longer. Nothing for nothing.
fn broken(text: &str, width: usize) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    if chars(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    for line in wrapped(text, width) {
        let all: Vec<char> = line.chars().collect();
        lines.extend(all.chunks(width.max(1)).map(|piece| piece.iter().collect::<String>()));
    }
    lines
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers() -> Table {
        let mut table = Table::new([
            Column::left("SERVER"),
            Column::left("STATUS"),
            Column::right("TOOLS"),
            Column::left("LOGIN"),
            Column::cut("COMMAND"),
        ]);
        let row = |cells: [&str; 5]| cells.map(str::to_owned);
        table.row(row(["calculator", "up", "12", "", "npx -y @example/server-calculator"]));
        table.row(row(["github", "down", "", "", "docker run github"]));
        table.note("the server exited with code 3 before it answered");
        table
    }

    #[test]
    fn columns_line_up_and_those_with_nothing_in_them_are_left_out() {
        assert_eq!(
            servers().lines(None),
            [
                "SERVER      STATUS  TOOLS  COMMAND",
                "calculator  up         12  npx -y @example/server-calculator",
                "github      down           docker run github",
                "  the server exited with code 3 before it answered",
            ]
        );
    }

    #[test]
    fn a_narrower_terminal_cuts_or_wraps_the_column_that_gives_way() {
        assert_eq!(
            servers().lines(Some(46)),
            [
                "SERVER      STATUS  TOOLS  COMMAND",
                "calculator  up         12  npx -y @example/se…",
                "github      down           docker run github",
                "  the server exited with code 3 before it",
                "  answered",
            ]
        );
        let mut table = Table::new([Column::left("ID"), Column::wrapping("WORDS")]);
        table.row(["1".to_owned(), "one two three four five".to_owned()]);
        assert_eq!(table.lines(Some(20)), ["ID  WORDS", "1   one two three", "    four five"]);
    }

    #[test]
    fn forty_columns_get_a_block_for_each_row_and_whole_words() {
        let lines = servers().lines(Some(40));
        assert_eq!(
            lines,
            [
                "SERVER   calculator",
                "STATUS   up",
                "TOOLS    12",
                "COMMAND  npx -y",
                "         @example/server-calculator",
                "",
                "SERVER   github",
                "STATUS   down",
                "COMMAND  docker run github",
                "  the server exited with code 3 before",
                "  it answered",
            ]
        );
        assert!(lines.iter().all(|line| line.chars().count() <= 40));
    }
}
