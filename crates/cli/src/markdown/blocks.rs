//! The blocks of a page, in order.

/// One block. Texts still have their marks.
#[derive(Debug, PartialEq, Eq)]
pub enum Block<'a> {
    Heading { level: usize, title: &'a str },
    Paragraph(String),
    Quote(String),
    Item { indent: usize, marker: String, text: String },
    Code { indent: usize, lines: Vec<&'a str> },
    Table(Vec<Vec<String>>),
}

/// Reads a page; comments are left out.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let lines: Vec<&str> = page.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let (block, used) = match Kind::of(trimmed) {
            Kind::Blank => (None, 1),
            Kind::Comment => (None, comment_lines(&lines[at..])),
            Kind::Fence => code(&lines[at..], indent),
            Kind::Heading => (Some(heading(trimmed)), 1),
            Kind::Row => table(&lines[at..]),
            Kind::Quote => {
                let (text, used) = joined(&lines[at..], |line| Kind::of(line) == Kind::Quote);
                (Some(Block::Quote(text.replace("> ", "").replace('>', ""))), used)
            }
            Kind::Item => item(&lines[at..], indent),
            Kind::Words => {
                let (text, used) = joined(&lines[at..], |line| Kind::of(line) == Kind::Words);
                (Some(Block::Paragraph(text)), used)
            }
        };
        found.extend(block);
        at += used.max(1);
    }
    found
}

/// What a line begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Comment,
    Fence,
    Heading,
    Row,
    Quote,
    Item,
    Words,
}

impl Kind {
    fn of(trimmed: &str) -> Self {
        match trimmed {
            "" => Self::Blank,
            _ if trimmed.starts_with("<!--") => Self::Comment,
            _ if trimmed.starts_with("```") => Self::Fence,
            _ if trimmed.trim_start_matches('#').starts_with(' ') && trimmed.starts_with('#') => {
                Self::Heading
            }
            _ if trimmed.starts_with('|') => Self::Row,
            _ if trimmed.starts_with('>') => Self::Quote,
            _ if marker(trimmed).is_some() => Self::Item,
            _ => Self::Words,
        }
    }
}

/// `-`, `*` or `12.`, with a space behind it.
fn marker(trimmed: &str) -> Option<&str> {
    let (word, _) = trimmed.split_once(' ')?;
    let number = word.strip_suffix('.').unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (matches!(word, "-" | "*") || is_number).then_some(word)
}

fn heading(trimmed: &str) -> Block<'_> {
    let title = trimmed.trim_start_matches('#');
    Block::Heading { level: trimmed.len() - title.len(), title: title.trim() }
}

fn comment_lines(lines: &[&str]) -> usize {
    lines.iter().position(|line| line.contains("-->")).map_or(lines.len(), |last| last + 1)
}

fn code<'a>(lines: &[&'a str], indent: usize) -> (Option<Block<'a>>, usize) {
    let ticks = lines[0].trim_start().bytes().take_while(|byte| *byte == b'`').count();
    let fence = &lines[0].trim_start()[..ticks];
    let length = lines[1..].iter().position(|line| line.trim() == fence).unwrap_or(lines.len() - 1);
    let inside = |line: &&'a str| {
        let spaces = line.bytes().take_while(|byte| *byte == b' ').count().min(indent);
        &line[spaces..]
    };
    let block = Block::Code { indent, lines: lines[1..=length].iter().map(inside).collect() };
    (Some(block), length + 2)
}

fn item<'a>(lines: &[&'a str], indent: usize) -> (Option<Block<'a>>, usize) {
    let first = lines[0].trim_start();
    let mark = marker(first).unwrap_or("-");
    let mut text = first[mark.len()..].trim().to_owned();
    let is_more = |line: &&&str| {
        let trimmed = line.trim_start();
        Kind::of(trimmed) == Kind::Words && line.len() - trimmed.len() > indent
    };
    let more = lines[1..].iter().take_while(is_more).count();
    for line in &lines[1..=more] {
        text.push(' ');
        text.push_str(line.trim());
    }
    (Some(Block::Item { indent, marker: mark.to_owned(), text }), more + 1)
}

fn table<'a>(lines: &[&'a str]) -> (Option<Block<'a>>, usize) {
    let rows: Vec<Vec<String>> = lines
        .iter()
        .take_while(|line| Kind::of(line.trim_start()) == Kind::Row)
        .map(|line| cells(line))
        .collect();
    let used = rows.len();
    let is_rule = |row: &Vec<String>| {
        row.iter().all(|cell| cell.contains('-') && cell.trim_matches(['-', ':']).is_empty())
    };
    let rows = rows.into_iter().filter(|row| !is_rule(row)).collect();
    (Some(Block::Table(rows)), used)
}

/// The cells of a row; `\|` is a bar in a cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    let bar = "\u{1}";
    line.replace("\\|", bar).split('|').map(|cell| cell.trim().replace(bar, "|")).collect()
}

/// Lines of one kind as one text.
fn joined(lines: &[&str], is_more: impl Fn(&str) -> bool) -> (String, usize) {
    let count = lines.iter().take_while(|line| is_more(line.trim_start())).count();
    (lines[..count].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_cells_and_no_rule() {
        let page = "| a | b |\n|---|:--|\n| `x \\| y` | |\n\nafter";
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let expected = [
            Block::Table(vec![row(&["a", "b"]), row(&["`x | y`", ""])]),
            Block::Paragraph("after".to_owned()),
        ];
        assert_eq!(blocks(page), expected);
    }

    #[test]
    fn a_fence_in_a_list_keeps_its_place() {
        let page = "- one\n\n  ```\n  code\n    more\n  ```\n";
        let item = Block::Item { indent: 0, marker: "-".to_owned(), text: "one".to_owned() };
        assert_eq!(blocks(page), [item, Block::Code { indent: 2, lines: vec!["code", "  more"] }]);
    }

    #[test]
    fn what_is_never_closed_ends_with_the_page() {
        assert!(blocks("<!-- a\nb").is_empty());
        assert_eq!(blocks("```\na"), [Block::Code { indent: 0, lines: vec!["a"] }]);
        assert_eq!(blocks("```"), [Block::Code { indent: 0, lines: vec![] }]);
        assert_eq!(blocks("#not a heading"), [Block::Paragraph("#not a heading".to_owned())]);
    }
}
