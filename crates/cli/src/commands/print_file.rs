//! A file on standard output: as it is, or harmless where that is a terminal.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

use anyhow::anyhow;

use super::{Failure, Outcome};
use crate::terminal::Printable;

/// Prints all of it.
pub fn print_file(file: &mut File) -> Outcome {
    let printed = match io::stdout().is_terminal() {
        true => print_to_terminal(file),
        false => io::copy(file, &mut io::stdout().lock()).and_then(|_| io::stdout().flush()),
    };
    match printed {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::Internal(anyhow!("can't write to standard output: {error}"))),
    }
}

/// A file must not drive the terminal of the person who looks at it.
fn print_to_terminal(file: &mut File) -> io::Result<()> {
    let (mut printable, mut buffer) = (Printable::default(), vec![0; 64 * 1024]);
    let mut ends_a_line = true;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            if !ends_a_line {
                println!();
            }
            return io::stdout().flush();
        }
        ends_a_line = buffer[..count].ends_with(b"\n");
        io::stdout().write_all(printable.take(&buffer[..count]).as_bytes())?;
    }
}
