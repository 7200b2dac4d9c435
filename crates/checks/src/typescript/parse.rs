//! The syntax tree of a text, for as long as somebody looks at it.
//!
//! Parsing and walking happen on a thread with a large stack, and only for texts whose nesting has a bound.

use std::borrow::Cow;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;
use ruff_text_size::{TextRange, TextSize};

use super::mistakes::{Mistake, ParserError};
use super::nesting::{Depth, depth};

/// Many times what the deepest text takes that is let through. Most of it is never touched.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// Levels of a tree that are walked. Long chains of calls and operators are deep trees.
pub(super) const WALKED_MAX: usize = 1_500;

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It may be right, but nobody can look at it.
    TooDeep(TextRange),
    Wrong(Mistake),
}

/// What `work` makes of the tree of a text.
pub(super) fn with_program<T: Send>(
    text: &str,
    work: impl FnOnce(&Program<'_>) -> Result<T, Trouble> + Send,
) -> Result<T, Trouble> {
    match depth(text) {
        Depth::Fine => {}
        Depth::TooDeep(at) => return Err(Trouble::TooDeep(range(at, at + 1))),
        Depth::Unsure(at) => return Err(Trouble::Wrong(Mistake::unsure(range(at, at + 1)))),
    }
    on_large_stack(|| {
        let allocator = Allocator::default();
        let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
        let parsed =
            Parser::new(&allocator, text, SourceType::ts().with_module(true)).with_options(options).parse();
        let error = parsed.diagnostics.errors().next().map(|error| ParserError {
            message: error.message.to_string(),
            help: error.help.as_ref().map(ToString::to_string),
            places: error
                .labels
                .iter()
                .map(|label| (label.span(), label.label().unwrap_or_default().to_owned()))
                .collect(),
        });
        match error {
            Some(error) => Err(Trouble::Wrong(error.mistake(text))),
            None => work(&parsed.program),
        }
    })
}

fn on_large_stack<T: Send>(work: impl FnOnce() -> Result<T, Trouble> + Send) -> Result<T, Trouble> {
    let failed = || Trouble::TooDeep(range(0, 0));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("typescript".to_owned()).stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, work) {
            Ok(running) => running.join().unwrap_or_else(|_| Err(failed())),
            Err(_) => Err(failed()),
        }
    })
}

/// A text as it is read: models wrap programs in Markdown fences. What stands outside becomes blanks, so that
/// lines stay.
pub(super) fn unfenced(code: &str) -> Cow<'_, str> {
    let is_fence = |line: &str| {
        let line = line.trim_start();
        line.starts_with("```") || line.starts_with("~~~")
    };
    let code = code.strip_prefix('\u{feff}').unwrap_or(code);
    let first = code.lines().find(|line| !line.trim().is_empty());
    if !first.is_some_and(is_fence) {
        return Cow::Borrowed(code);
    }
    let mut fences = 0;
    let mut text = String::with_capacity(code.len());
    for line in code.split_inclusive('\n') {
        let fence = is_fence(line) && fences < 2;
        fences += usize::from(fence);
        match fence || fences != 1 {
            true if line.ends_with('\n') => text.push('\n'),
            true => {}
            false => text.push_str(line),
        }
    }
    Cow::Owned(text)
}

pub(super) fn range(from: usize, to: usize) -> TextRange {
    let size = |at: usize| TextSize::new(u32::try_from(at).unwrap_or(u32::MAX));
    TextRange::new(size(from), size(to.max(from)))
}
