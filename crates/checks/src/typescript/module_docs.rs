//! The comments of a module that say what it is for.

use oxc_ast::ast::Program;

const DOC_CHARS_MAX: usize = 1_000;

/// A text with its comments.
pub(super) struct Docs<'t, 'p, 'a> {
    pub text: &'t str,
    pub program: &'p Program<'a>,
}

impl Docs<'_, '_, '_> {
    /// The comment that stands right before something: one block, or lines that follow each other.
    pub fn before(&self, at: usize) -> String {
        let (mut lines, mut from) = (Vec::new(), at);
        for comment in self.program.comments.iter().rev() {
            let (start, end) = (comment.span.start as usize, comment.span.end as usize);
            if end > from {
                continue;
            }
            let between = &self.text[end..from];
            if !between.trim().is_empty() || between.matches('\n').count() > 1 {
                break;
            }
            let content = comment.content_span().source_text(self.text);
            if comment.is_line() {
                lines.push(content.trim().to_owned());
                from = start;
                continue;
            }
            if lines.is_empty() {
                return block_text(content);
            }
            break;
        }
        lines.reverse();
        shortened(lines.join("\n"))
    }

    /// The comment at the top.
    pub fn of_module(&self) -> String {
        let Some(first) = self.program.comments.first() else { return String::new() };
        if !self.text[..first.span.start as usize].trim().is_empty() {
            return String::new();
        }
        let mut end = first.span.end as usize;
        let mut content = match first.is_line() {
            true => first.content_span().source_text(self.text).trim().to_owned(),
            false => block_text(first.content_span().source_text(self.text)),
        };
        for comment in self.program.comments.iter().skip(1) {
            let between = &self.text[end..comment.span.start as usize];
            let goes_on = between.trim().is_empty() && between.matches('\n').count() == 1;
            if !(first.is_line() && comment.is_line() && goes_on) {
                break;
            }
            content.push('\n');
            content.push_str(comment.content_span().source_text(self.text).trim());
            end = comment.span.end as usize;
        }
        shortened(content)
    }
}

/// The words of `/** ... */` before its tags.
fn block_text(content: &str) -> String {
    let lines = content.lines().map(|line| line.trim().trim_start_matches('*').trim());
    let words: Vec<&str> = lines.take_while(|line| !line.starts_with('@')).collect();
    shortened(words.join("\n").trim().to_owned())
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(DOC_CHARS_MAX) {
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
        None => text,
    }
}
