//! The text as the interpreter reads it: models wrap programs in Markdown fences, indent all of them, and
//! send line ends of any kind. The guest repairs that (`source.py`); so does this, as far as it is certain.

use std::borrow::Cow;

/// A program as it is parsed.
pub(crate) struct Repaired<'a> {
    pub text: Cow<'a, str>,
    /// Whether something was taken away that only the guest can judge: a mistake in the text is then its to tell.
    pub is_guess: bool,
}

pub(crate) fn repaired(code: &str) -> Repaired<'_> {
    let code = code.strip_prefix('\u{feff}').unwrap_or(code);
    let mut text = Cow::Borrowed(code);
    if text.contains('\r') {
        text = Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    let fenced = inside_fence(&text);
    let mut is_guess = fenced.is_some();
    if let Some(inner) = fenced {
        text = Cow::Owned(inner);
    }
    if starts_indented(&text) {
        text = Cow::Owned(dedented(&text));
        is_guess = true;
    }
    Repaired { text, is_guess }
}

/// What stands between the first fence and the next, where the text begins with one or has only prose before it.
fn inside_fence(text: &str) -> Option<String> {
    // Nearly all programs have neither character.
    let has = |mark: char, fence: &str| text.contains(mark) && text.contains(fence);
    if !has('`', "```") && !has('~', "~~~") {
        return None;
    }
    let is_fence = |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let first = text.lines().position(|line| is_fence(&line))?;
    let before_is_prose = text.lines().take(first).all(|line| !looks_like_code(line));
    if !before_is_prose {
        return None;
    }
    let inner: Vec<&str> = text.lines().skip(first + 1).take_while(|line| !is_fence(line)).collect();
    Some(inner.join("\n"))
}

fn looks_like_code(line: &str) -> bool {
    let line = line.trim_start();
    let starts = [
        "import ", "from ", "def ", "async ", "class ", "await ", "print(", "for ", "if ", "with ", "\"\"\"",
        "'''", "#", "@",
    ];
    line.contains('=') || line.ends_with(')') || starts.iter().any(|start| line.starts_with(start))
}

fn starts_indented(text: &str) -> bool {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text.lines().find(is_code).is_some_and(|line| line.starts_with([' ', '\t']))
}

fn dedented(text: &str) -> String {
    let margin = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let common = lines().map(margin).min().unwrap_or(0);
    let cut = |line: &str| line.get(common..).unwrap_or("").to_owned();
    text.lines().map(cut).collect::<Vec<_>>().join("\n")
}
