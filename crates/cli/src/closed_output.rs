//! Standard output that cannot be written: whoever read it has seen enough, or its disk is full.
//!
//! `println!` panics then. This is where such a panic becomes an end like any other, for all commands
//! at once; no signal is changed, since workers and servers count on a closed pipe being an error.

use std::any::Any;
use std::io;
use std::process::ExitCode;

use tokio::task::JoinError;

use crate::exit_codes;
use crate::terminal::eprint_lines;

/// How the standard library begins what it says when it cannot print.
const BEGINNINGS: [&str; 2] = ["failed printing to stdout: ", "failed printing to stderr: "];

/// The number of `Broken pipe`, on Linux and macOS.
const BROKEN_PIPE: i32 = 32;

/// Why something could not be printed.
#[derive(Debug, PartialEq, Eq)]
enum Unprinted {
    Closed,
    /// What the system says.
    Failed(String),
}

/// From here on nothing is said about panics of this kind by themselves.
pub fn hide_panics_of_printing() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if unprinted(panic.payload()).is_none() {
            usual(panic);
        }
    }));
}

/// How a command ends that did not come to its end.
pub fn exit_code_after(failed: JoinError) -> ExitCode {
    let words = failed.to_string();
    let why = failed.try_into_panic().ok().and_then(|payload| unprinted(payload.as_ref()));
    match why {
        Some(Unprinted::Closed) => exit_codes::OK,
        Some(Unprinted::Failed(why)) => {
            eprint_lines(&format!("error: can't write output: {why}"));
            exit_codes::internal()
        }
        None => {
            eprint_lines(&format!("error: {words}; please report this"));
            exit_codes::internal()
        }
    }
}

fn unprinted(payload: &(dyn Any + Send)) -> Option<Unprinted> {
    let words = payload.downcast_ref::<String>()?;
    let why = BEGINNINGS.iter().find_map(|beginning| words.strip_prefix(*beginning))?;
    Some(match why == io::Error::from_raw_os_error(BROKEN_PIPE).to_string() {
        true => Unprinted::Closed,
        false => Unprinted::Failed(why.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_could_not_be_printed_is_taken_for_it() {
        let check = |words: &str, expected: Option<Unprinted>| {
            assert_eq!(unprinted(&words.to_owned()), expected, "{words}");
        };
        check("failed printing to stdout: Broken pipe (os error 32)", Some(Unprinted::Closed));
        check("failed printing to stderr: Broken pipe (os error 32)", Some(Unprinted::Closed));
        let full = "No space left on device (os error 28)";
        check(&format!("failed printing to stdout: {full}"), Some(Unprinted::Failed(full.to_owned())));
        check("index out of bounds: Broken pipe (os error 32)", None);
    }
}
