//! What a line of a log says about itself.

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogLevel {
    Error,
    Warning,
    Info,
    Debug,
}

impl LogLevel {
    /// The worst first.
    pub const ALL: [LogLevel; 4] = [LogLevel::Error, LogLevel::Warning, LogLevel::Info, LogLevel::Debug];

    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warning => "warning",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
        }
    }
}

/// A level stands near the beginning of its line, behind time and source.
const LOOKED_AT_BYTES: usize = 160;

/// The level of a line. Words in capitals count anywhere, others only where they are set off, as in
/// `[error]` or `level=error`.
pub(super) fn level_of(line: &str) -> Option<LogLevel> {
    let bytes = line.as_bytes();
    let bytes = bytes.get(..LOOKED_AT_BYTES).unwrap_or(bytes);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if !byte.is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let after = rest.get(length);
        // A part of a longer name, such as HTTP_ERROR_CODE, says nothing.
        let is_alone = ![before, after].into_iter().flatten().any(|byte| matches!(byte, b'_' | b'0'..=b'9'));
        let is_set_off = matches!(before, Some(b'[' | b'=' | b'"' | b'<' | b'(' | b'|'));
        if is_alone
            && (3..=8).contains(&length)
            && (is_set_off || word.iter().all(u8::is_ascii_uppercase))
            && let Some(level) = level_of_word(word)
        {
            return Some(level);
        }
        at += length;
    }
    None
}

/// Whether a traceback of Python begins here.
pub(super) fn begins_traceback(line: &str) -> bool {
    line.starts_with("Traceback (most recent call last)")
}

/// Whether the traceback that follows belongs to the one before.
pub(super) fn joins_tracebacks(line: &str) -> bool {
    line.starts_with("During handling of the above exception")
        || line.starts_with("The above exception was the direct cause")
}

fn level_of_word(word: &[u8]) -> Option<LogLevel> {
    const WORDS: [(&[u8], LogLevel); 13] = [
        (b"info", LogLevel::Info),
        (b"debug", LogLevel::Debug),
        (b"warn", LogLevel::Warning),
        (b"warning", LogLevel::Warning),
        (b"error", LogLevel::Error),
        (b"err", LogLevel::Error),
        (b"fatal", LogLevel::Error),
        (b"critical", LogLevel::Error),
        (b"panic", LogLevel::Error),
        (b"severe", LogLevel::Error),
        (b"notice", LogLevel::Info),
        (b"trace", LogLevel::Debug),
        (b"verbose", LogLevel::Debug),
    ];
    WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, level)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_from_words_that_look_like_them() {
        let check = |line: &str, expected| assert_eq!(level_of(line), expected, "{line}");
        check("2026-01-01 12:00:00 ERROR db: no connection", Some(LogLevel::Error));
        check("[warn] disk is nearly full", Some(LogLevel::Warning));
        check("ts=1 level=info msg=\"an error that was handled\"", Some(LogLevel::Info));
        check("{\"level\":\"fatal\"}", Some(LogLevel::Error));
        check("<DEBUG> x", Some(LogLevel::Debug));
        check("an error in a sentence", None);
        check("HTTP_ERROR_CODE = 5", None);
        check("", None);
    }
}
