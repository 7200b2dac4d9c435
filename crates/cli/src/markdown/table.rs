//! A table in columns that fit a width together; what doesn't fit into a cell goes on below.

use super::inline::{Words, words};

const GAP: usize = 2;
/// Below it a column can't be read; a table with too many columns is wider than it should be.
const COLUMN_MIN: usize = 6;

/// Sets a table; its first row is its head.
pub fn set(rows: &[Vec<String>], width: usize, is_colored: bool, text: &mut String) {
    let count = rows.iter().map(Vec::len).max().unwrap_or_default();
    let cells: Vec<Vec<Words>> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| {
            let cell = |cell: &String| if number == 0 { words(cell).in_bold() } else { words(cell) };
            row.iter().map(cell).collect()
        })
        .collect();
    let natural: Vec<usize> = (0..count)
        .map(|column| {
            cells.iter().filter_map(|row| row.get(column)).map(Words::width).max().unwrap_or_default()
        })
        .collect();
    let widths = fitted(&natural, width.saturating_sub(GAP * count.saturating_sub(1)));
    let is_wrapped = natural != widths;
    for (number, row) in cells.into_iter().enumerate() {
        // With cells of several lines, rows need air between them.
        if is_wrapped && number > 1 {
            text.push('\n');
        }
        set_row(row, &widths, is_colored, text);
        if number == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            text.push_str(&rules.join(&" ".repeat(GAP)));
            text.push('\n');
        }
    }
}

fn set_row(row: Vec<Words>, widths: &[usize], is_colored: bool, text: &mut String) {
    let row: Vec<Words> = row.into_iter().zip(widths).map(|(cell, width)| cell.broken(*width)).collect();
    let lines: Vec<_> = row.iter().zip(widths).map(|(cell, width)| cell.lines(*width)).collect();
    let height = lines.iter().map(Vec::len).max().unwrap_or_default().max(1);
    for at in 0..height {
        let mut line = String::new();
        for (column, width) in lines.iter().zip(widths) {
            let (shown, used) =
                column.get(at).map_or_else(Default::default, |line| (line.painted(is_colored), line.width()));
            line.push_str(&shown);
            line.push_str(&" ".repeat(width.saturating_sub(used) + GAP));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// Widths that fit together: narrow columns get what they need, and wide ones share what is left.
fn fitted(natural: &[usize], room: usize) -> Vec<usize> {
    let mut widths = natural.to_vec();
    let mut is_open = vec![true; natural.len()];
    loop {
        let taken: usize =
            natural.iter().zip(&is_open).filter(|(_, open)| !**open).map(|(width, _)| width).sum();
        let open = is_open.iter().filter(|open| **open).count();
        if open == 0 {
            return widths;
        }
        let share = (room.saturating_sub(taken) / open).max(COLUMN_MIN);
        let narrow: Vec<usize> =
            (0..natural.len()).filter(|column| is_open[*column] && natural[*column] <= share).collect();
        if narrow.is_empty() {
            let wide = (0..natural.len()).filter(|column| is_open[*column]);
            wide.for_each(|column| widths[column] = share);
            return widths;
        }
        narrow.into_iter().for_each(|column| is_open[column] = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[&[&str]], width: usize, expected: &str) {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        let mut text = String::new();
        set(&rows, width, false, &mut text);
        assert_eq!(text, expected);
    }

    #[test]
    fn what_fits_is_as_wide_as_it_is() {
        check(
            &[&["name", "what"], &["`a`", "first"], &["b"]],
            40,
            "name  what\n----  -----\n`a`   first\nb\n",
        );
    }

    #[test]
    fn what_does_not_fit_goes_on_below() {
        check(
            &[&["key", "meaning"], &["a", "one two three"], &["b", "unbreakable_word"]],
            14,
            "key  meaning\n---  ---------\na    one two\n     three\n\nb    unbreakab\n     le_word\n",
        );
    }

    #[test]
    fn narrow_columns_get_what_they_need() {
        assert_eq!(fitted(&[4, 60, 50], 64), [4, 30, 30]);
        assert_eq!(fitted(&[4, 6], 64), [4, 6]);
        assert_eq!(fitted(&[40, 40], 4), [COLUMN_MIN; 2]);
        assert_eq!(fitted(&[], 4), [0_usize; 0]);
    }
}
