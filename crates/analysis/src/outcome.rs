//! What an analysis gives back, besides the output itself.

use serde::{Deserialize, Serialize};

use crate::bounds::NOTES_WITH_PROBLEM_MAX;
use crate::nearest::nearest;
use crate::values::short;

/// What was written to the output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analyzed {
    /// How many rows the table has; `None` for a report, which is one object.
    pub rows: Option<u64>,
    /// The columns of the table in order; for a report the names of its members.
    pub columns: Vec<String>,
    /// What happened on the way that a reader of the numbers should know.
    pub notes: Vec<String>,
}

/// Why an analysis could not be done. The inputs are untouched; what is in the output is to be thrown away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The step it happened in, counted from 1; `None` before the first step.
    pub step: Option<usize>,
    /// What is wrong, in one line.
    pub message: String,
    /// What the caller can do about it.
    pub hint: Option<String>,
    /// The field it is about.
    pub field: Option<String>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { step: None, message: message.into(), hint: None, field: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Of the step that it happened in, unless it is known already.
    pub(crate) fn in_step(mut self, step: usize) -> Self {
        self.step.get_or_insert(step);
        self
    }

    /// With what was noted on the way about its field, or about the data as a whole: it may be the reason.
    pub(crate) fn with_notes(mut self, notes: &Notes) -> Self {
        let hint = self.hint.take().unwrap_or_default();
        let own = notes.notes.iter().filter(|note| is_about(note, self.field.as_deref()));
        // The hint says it already.
        let own = own.filter(|note| !(note.contains("data_field") && hint.contains("data_field")));
        let own = own.take(NOTES_WITH_PROBLEM_MAX).map(|note| format!("note: {}", short(note)));
        let parts: Vec<String> =
            Some(hint.clone()).filter(|hint| !hint.is_empty()).into_iter().chain(own).collect();
        self.hint = Some(parts.join("; ")).filter(|hint| !hint.is_empty());
        self
    }

    /// A name that is none of the known ones.
    pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        Self::unknown_with_hint(what, name, nearest(name, known.iter().copied()), &known)
    }

    /// The same for names with other spellings: the nearest spelling leads to its name.
    pub(crate) fn unknown_spelling<'a>(
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = (&'a str, &'a [&'a str])>,
    ) -> Self {
        let known: Vec<(&str, &[&str])> = known.into_iter().collect();
        let names: Vec<&str> = known.iter().map(|(own, _)| *own).collect();
        let spellings =
            known.iter().flat_map(|(own, others)| std::iter::once(*own).chain(others.iter().copied()));
        let near = nearest(name, spellings).and_then(|near| {
            known.iter().find(|(own, others)| *own == near || others.contains(&near)).map(|(own, _)| *own)
        });
        Self::unknown_with_hint(what, name, near, &names)
    }

    fn unknown_with_hint(what: &str, name: &str, near: Option<&str>, known: &[&str]) -> Self {
        let hint = match near {
            Some(near) => format!("did you mean {near:?}? available: {}", listed(known)),
            None => format!("available: {}", listed(known)),
        };
        Self::new(format!("unknown {what} {name:?}")).hint(hint)
    }
}

/// Whether a note is about this field, or about none.
fn is_about(note: &str, field: Option<&str>) -> bool {
    !note.starts_with("field ") || field.is_some_and(|field| note.starts_with(&format!("field {field:?}")))
}

/// Names side by side, the first thirty of them.
pub(crate) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 30;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN) {
        Some(omitted) if omitted > 0 => format!("{shown} and {omitted} more"),
        Some(_) | None => shown,
    }
}

/// Remarks for whoever reads the numbers, each once.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// How many rows steps kept: always worth a line, never the reason of a problem.
    kept: Vec<String>,
    notes: Vec<String>,
    omitted: usize,
}

impl Notes {
    pub(crate) fn add(&mut self, note: impl Into<String>) {
        let note = note.into();
        if self.notes.contains(&note) {
            return;
        }
        if self.notes.len() < crate::bounds::NOTES_MAX {
            self.notes.push(note);
        } else {
            self.omitted += 1;
        }
    }

    /// What a step kept of the rows, with figures of them.
    pub(crate) fn add_kept(&mut self, note: String) {
        if self.kept.len() < crate::bounds::NOTES_MAX {
            self.kept.push(note);
        } else {
            self.omitted += 1;
        }
    }

    pub(crate) fn into_list(mut self) -> Vec<String> {
        let mut list = self.notes;
        list.append(&mut self.kept);
        if self.omitted > 0 {
            list.push(format!("{} more notes not shown", self.omitted));
        }
        list
    }
}
