//! What changed, line by line.

use maud::{Markup, html};

use crate::Text;

/// A change of a text.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    pub lines: Vec<DiffLine>,
}

/// One line of it, without a sign.
#[derive(Clone, Debug)]
pub enum DiffLine {
    Same(Text),
    Added(Text),
    Removed(Text),
    /// Lines left out, or the name of what follows.
    Gap(Text),
}

pub(crate) fn diff(diff: &Diff) -> Markup {
    html! {
        pre.code.diff tabindex="0" {
            @for line in &diff.lines {
                @match line {
                    DiffLine::Same(text) => span.line { span.sign { "  " } (text) "\n" },
                    DiffLine::Added(text) => ins.line { span.sign { "+ " } (text) "\n" },
                    DiffLine::Removed(text) => del.line { span.sign { "- " } (text) "\n" },
                    DiffLine::Gap(text) => span.line.gap { (text) "\n" },
                }
            }
        }
    }
}
