//! The next piece of plain ASCII, by hand: most of what is counted, at a tenth of the pattern's time. Where another
//! character might belong to the piece, nothing is said.

/// What a byte is to the pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    /// White space but for line breaks.
    Space,
    LineBreak,
    /// Everything else of ASCII.
    Mark,
    /// The beginning of a longer character.
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'\r' | b'\n' => Class::LineBreak,
            b' ' | b'\t' | 0x0b | 0x0c => Class::Space,
            _ => Class::Mark,
        };
        byte += 1;
    }
    classes
};

/// Numbers are cut after as many digits.
const DIGITS_MAX: usize = 3;

/// Where the piece ends that the pattern finds at `at`; `None` if that can't be told by ASCII alone, or at the end.
pub fn end(text: &[u8], at: usize) -> Option<usize> {
    let first = class(text, at)?;
    let word = match first {
        Class::Lower | Class::Upper => Some(at),
        // One other character goes with the word behind it.
        Class::Space | Class::Mark => Some(at + 1),
        Class::Digit | Class::LineBreak => None,
        Class::Other => return None,
    };
    if let Some(word) = word {
        let lower = run(text, word, Class::Upper)?;
        let end = run(text, lower, Class::Lower)?;
        if end > word {
            return with_ending(text, end);
        }
    }
    match first {
        Class::Digit => number(text, at),
        Class::Mark => marks(text, at),
        _ if text[at] == b' ' && class(text, at + 1) == Some(Class::Mark) => marks(text, at + 1),
        _ => spaces(text, at),
    }
}

fn class(text: &[u8], at: usize) -> Option<Class> {
    text.get(at).map(|byte| CLASSES[usize::from(*byte)])
}

/// Where a run of one class ends, unless a longer character may go on with it.
fn run(text: &[u8], at: usize, wanted: Class) -> Option<usize> {
    let mut end = at;
    loop {
        match class(text, end) {
            Some(Class::Other) => return None,
            Some(class) if class == wanted => end += 1,
            _ => return Some(end),
        }
    }
}

/// `'s`, `'re` and the like belong to the word.
fn with_ending(text: &[u8], end: usize) -> Option<usize> {
    if text.get(end) != Some(&b'\'') {
        return Some(end);
    }
    let letter = |at: usize| text.get(end + at).map(u8::to_ascii_lowercase);
    match (letter(1), letter(2)) {
        (Some(b's' | b't' | b'm' | b'd'), _) => Some(end + 2),
        (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => Some(end + 3),
        // Some of them are small letters s in another spelling.
        (Some(0x80..), _) => None,
        _ => Some(end),
    }
}

fn number(text: &[u8], at: usize) -> Option<usize> {
    let digits = text.len().min(at + DIGITS_MAX);
    run(&text[..digits], at, Class::Digit).filter(|end| {
        // What comes next may be a digit of another script.
        *end == at + DIGITS_MAX || class(text, *end) != Some(Class::Other)
    })
}

/// Punctuation, with the slashes and line breaks behind it.
fn marks(text: &[u8], at: usize) -> Option<usize> {
    let end = run(text, at, Class::Mark)?;
    let behind = text[end..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count();
    Some(end + behind)
}

/// White space: up to its last line break if it has one, otherwise all of it.
fn spaces(text: &[u8], at: usize) -> Option<usize> {
    let (mut end, mut line_break) = (at, None);
    loop {
        match class(text, end) {
            Some(Class::Other) => return None,
            Some(Class::Space) => end += 1,
            Some(Class::LineBreak) => {
                end += 1;
                line_break = Some(end);
            }
            _ => return Some(line_break.unwrap_or(end)),
        }
    }
}
