//! Hints about what to do next: for a person at a terminal, after the output, and never into a pipe.
//! Hints that belong to an error are part of the error.

use std::io::{IsTerminal, Write};

use crate::terminal::eprint_lines;

/// Says what a person might do next.
pub fn hint(text: &str) {
    if !(std::io::stdout().is_terminal() && std::io::stderr().is_terminal()) {
        return;
    }
    // What was printed before must also stand before.
    let _ = std::io::stdout().flush();
    eprint_lines(&format!("hint: {text}"));
}
