//! Bytes of a program, made harmless for a terminal.

use std::io::Write;

use gristmill_gateway::domain::{HiddenText, cut_chars, visible_json};

use crate::color;

/// Shows as text: control characters other than line feed and tab become visible symbols, and
/// what hides text or is not UTF-8 becomes U+FFFD. A character may come in two pieces.
#[derive(Default)]
pub struct Printable {
    pending: Vec<u8>,
    hidden: HiddenText,
}

impl Printable {
    /// What can be shown so far.
    pub fn take(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - unfinished_bytes(&self.pending);
        let rest = self.pending.split_off(whole);
        let hidden = &mut self.hidden;
        let shown = String::from_utf8_lossy(&self.pending).chars().map(|c| visible(c, hidden)).collect();
        self.pending = rest;
        shown
    }

    /// All of `text` at once.
    pub fn all(text: &str) -> String {
        let mut hidden = HiddenText::default();
        text.chars().map(|c| visible(c, &mut hidden)).collect()
    }
}

/// Foreign words on one line, not too long.
pub fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 400;
    let flat = |c| if matches!(c, '\n' | '\t') { ' ' } else { c };
    let mut hidden = HiddenText::default();
    let shown = text.trim().chars().map(|c| visible(c, &mut hidden));
    let line: String = shown.map(flat).take(CHARS_MAX + 1).collect();
    cut_chars(&line, CHARS_MAX)
}

/// A message of ours with foreign words in it, for a terminal or a file: nothing in it is obeyed, and whatever
/// breaks it into lines is set in, so that no line of others looks like one of ours.
pub fn set_in(text: &str) -> String {
    Printable::all(text.trim_end()).replace('\n', "\n  ")
}

/// How wide lines may be: the terminal's width, or what suits a file.
pub fn width() -> usize {
    const ELSEWHERE: usize = 100;
    columns(std::io::stdout()).unwrap_or(ELSEWHERE)
}

/// The width of a terminal; none if it is not one.
pub fn columns(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0).map(|columns| columns.clamp(40, 200))
}

/// Prints lines, wrapped at words on a terminal.
pub fn print_lines(text: &str) {
    folded(&Printable::all(text), columns(std::io::stdout())).iter().for_each(|line| println!("{line}"));
}

/// The same on standard error, with the words before messages in color.
pub fn eprint_lines(text: &str) {
    let is_colored = color::on_stderr();
    let lines = folded(&Printable::all(text), columns(std::io::stderr())).into_iter();
    let lines = lines.map(|line| color::message(&line, is_colored));
    let mut stderr = std::io::stderr().lock();
    for line in lines {
        // If standard error is closed, nobody is left to read it.
        let _ = writeln!(stderr, "{line}");
    }
}

/// Prints JSON, set out over lines. On a terminal nothing in it is obeyed: what is hidden is an escape.
pub fn print_json(value: &serde_json::Value) {
    use std::io::IsTerminal;
    let json = format!("{value:#}");
    match std::io::stdout().is_terminal() {
        true => println!("{}", visible_json(&json)),
        false => println!("{json}"),
    }
}

/// Prints words after a heading, and what does not fit under the first of them.
pub fn print_after(heading: &str, words: &str) {
    let indent = heading.chars().count();
    let room =
        columns(std::io::stdout()).map_or(usize::MAX, |columns| columns.saturating_sub(indent).max(20));
    let mut lines = wrapped(words, room).into_iter();
    println!("{heading}{}", lines.next().unwrap_or_default());
    lines.for_each(|line| println!("{:indent$}{line}", ""));
}

/// Lines of which none is wider than a terminal. What is carried over is set in; what fits stays as
/// it is.
pub fn folded(text: &str, columns: Option<usize>) -> Vec<String> {
    const CARRIED_OVER: usize = 2;
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some(columns) = columns.filter(|columns| line.chars().count() > *columns) else {
            lines.push(line.to_owned());
            continue;
        };
        let indent = line.chars().take_while(|c| *c == ' ').count().min(columns / 2);
        let pieces = wrapped(line, columns.saturating_sub(indent + CARRIED_OVER));
        lines.extend(pieces.iter().enumerate().map(|(index, piece)| {
            let indent = if index == 0 { indent } else { indent + CARRIED_OVER };
            format!("{:indent$}{piece}", "")
        }));
    }
    lines
}

/// Words on lines of a width. A word that is longer has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines
            .last_mut()
            .filter(|line| line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Asks; none if nobody is there to answer.
pub fn ask(question: &str) -> Option<String> {
    use std::io::IsTerminal;
    if !std::io::stdin().is_terminal() {
        return None;
    }
    let mut stderr = std::io::stderr();
    write!(stderr, "{question} ").and_then(|()| stderr.flush()).ok()?;
    let mut answer = String::new();
    match std::io::stdin().read_line(&mut answer) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(answer.trim().to_owned()),
    }
}

/// The same after something that isn't ours was printed, which may have looked like a question: what was typed before
/// this one is no answer to it.
pub fn ask_afresh(question: &str) -> Option<String> {
    use std::io::IsTerminal;
    if std::io::stdin().is_terminal() {
        rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush).ok()?;
    }
    ask(question)
}

/// Whether the user said yes. Nobody there is no.
pub fn confirmed(question: &str) -> bool {
    is_yes(ask(&format!("{question} [y/N]")))
}

/// The same with a fresh answer.
pub fn confirmed_afresh(question: &str) -> bool {
    is_yes(ask_afresh(&format!("{question} [y/N]")))
}

fn is_yes(answer: Option<String>) -> bool {
    matches!(answer.as_deref(), Some("y" | "Y" | "yes"))
}

/// How many bytes at the end may be the beginning of a character.
fn unfinished_bytes(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let length = match bytes[bytes.len() - back] {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if length > back { back } else { 0 };
    }
    0
}

fn visible(character: char, hidden: &mut HiddenText) -> char {
    let is_hidden = hidden.hides(character);
    match character {
        '\n' | '\t' => character,
        // The block of control pictures mirrors the first 32 characters.
        '\0'..='\x1f' => char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        // What changes the writing direction makes text read as something it is not, what shows as nothing may
        // be a sentence that only a model reads, and a line ends nowhere but at its end.
        _ if is_hidden => '\u{fffd}',
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_instead_of_obeyed() {
        let shown = Printable::default().take(b"\x1b]0;title\x07 a\tb\n\xff\xc2\x9b \xe2\x80\xaeevil");
        assert_eq!(shown, "␛]0;title␇ a\tb\n\u{fffd}\u{fffd} \u{fffd}evil");
    }

    #[test]
    fn words_in_invisible_characters_are_seen() {
        let hidden = "a\u{e0041}\u{200b}b\u{e0100} \u{26a0}\u{fe0f}";
        let shown = "a\u{fffd}\u{fffd}b\u{fffd} \u{26a0}\u{fe0f}";
        assert_eq!(Printable::all(hidden), shown);
        assert_eq!((one_line(hidden), set_in(hidden)), (shown.to_owned(), shown.to_owned()));
        let mut printable = Printable::default();
        let (first, second) = hidden.as_bytes().split_at(hidden.len() - 3);
        assert_eq!(printable.take(first) + &printable.take(second), shown);
    }

    #[test]
    fn no_line_of_others_begins_where_ours_do() {
        assert_eq!(
            set_in("error[GM-1104]: no\r\nerror: forged\n\n\u{1b}[2J\u{202e}\u{2028}x\u{85}y\n"),
            "error[GM-1104]: no␍\n  error: forged\n  \n  ␛[2J\u{fffd}\u{fffd}x\u{fffd}y"
        );
        assert_eq!(set_in("note: one line"), "note: one line");
    }

    #[test]
    fn lines_that_are_too_wide_are_broken_between_words() {
        let check = |text: &str, columns: Option<usize>, expected: &[&str]| {
            assert_eq!(folded(text, columns), expected, "{text:?}");
        };
        check("one two three", None, &["one two three"]);
        check("one two\n  a  b", Some(8), &["one two", "  a  b"]);
        check("one two three", Some(9), &["one two", "  three"]);
        check("  one two three four", Some(12), &["  one two", "    three", "    four"]);
        check("at /a/path/that/is/long here", Some(12), &["at", "  /a/path/that/is/long", "  here"]);
    }

    #[test]
    fn a_character_may_come_in_two_pieces() {
        let mut printable = Printable::default();
        let bytes = "a€é😀".as_bytes();
        for cut in 0..=bytes.len() {
            let shown = printable.take(&bytes[..cut]) + &printable.take(&bytes[cut..]);
            assert_eq!(shown, "a€é😀", "cut at {cut}");
        }
    }
}
