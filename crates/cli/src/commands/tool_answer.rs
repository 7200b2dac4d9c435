//! A tool's answer, printed or saved.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use gristmill_gateway::domain::{AnswerFile, ToolAnswer, format_bytes};
use serde_json::Value;

use super::Failure;
use crate::terminal::{Printable, eprint_lines, one_line};

/// Prints it. Files are named, since their bytes are not for a terminal.
pub fn print(answer: &ToolAnswer, json: bool) -> io::Result<()> {
    print_value(answer, json)?;
    for file in &answer.files {
        eprint_lines(&format!("note: the answer includes a file: {}", described(file)));
    }
    if !answer.files.is_empty() {
        eprint_lines("hint: add --output FILE to save it");
    }
    Ok(())
}

/// Whether files can be saved there, asked before the tool is called.
pub fn check_free(output: &Path) -> Result<(), Failure> {
    match output.symlink_metadata() {
        Ok(_) => Err(taken(output)),
        Err(_) => Ok(()),
    }
}

/// Saves its files, or without any the answer itself. What else it says is printed.
pub fn save(answer: &ToolAnswer, output: &Path, json: bool) -> Result<(), Failure> {
    if answer.files.is_empty() {
        let value: Value = serde_json::from_str(&answer.json).unwrap_or_default();
        let bytes = match (&value, json) {
            (Value::String(text), false) => text.clone(),
            // As the server wrote it: numbers keep their digits.
            (_, _) => format!("{}\n", answer.json),
        };
        write_new(output, bytes.as_bytes())?;
        eprint_lines(&format!("saved {} ({})", output.display(), format_bytes(bytes.len() as u64)));
        return Ok(());
    }
    for (number, file) in answer.files.iter().enumerate() {
        let path = numbered(output, number);
        let bytes = BASE64_STANDARD.decode(&file.base64).map_err(|error| {
            Failure::Internal(anyhow!("file {} of the answer isn't base64: {error}", number + 1))
        })?;
        write_new(&path, &bytes)?;
        eprint_lines(&format!("saved {} ({})", path.display(), described(file)));
    }
    // An image alone says nothing more.
    let says_more = !answer.json.starts_with("{\"$file\":");
    match says_more.then(|| print_value(answer, json)) {
        Some(Err(error)) => Err(Failure::Internal(anyhow!("can't write to standard output: {error}"))),
        Some(Ok(())) | None => Ok(()),
    }
}

fn print_value(answer: &ToolAnswer, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let value: Value = serde_json::from_str(&answer.json).unwrap_or_default();
    match (&value, json) {
        (Value::String(text), false) => writeln!(out, "{}", Printable::all(text)),
        (value, false) if out.is_terminal() => writeln!(out, "{}", Printable::all(&format!("{value:#}"))),
        // As the server wrote it: numbers keep their digits.
        (_, _) => writeln!(out, "{}", answer.json),
    }
}

fn described(file: &AnswerFile) -> String {
    let bytes = file.base64.trim_end_matches('=').len() as u64 * 3 / 4;
    format!("{}, {}", one_line(&file.mime), format_bytes(bytes))
}

/// `chart.png`, `chart-2.png`, `chart-3.png`.
fn numbered(output: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return output.to_owned();
    }
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let extension = output.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    output.with_file_name(format!("{stem}-{}{}", number + 1, extension.unwrap_or_default()))
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = made.and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(path),
        _ => Failure::Usage(anyhow!("can't write {}: {error}", path.display())),
    })
}

fn taken(path: &Path) -> Failure {
    Failure::Usage(anyhow!("{} already exists; choose another file", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_files_are_numbered_before_their_extension() {
        let check = |output: &str, number: usize, expected: &str| {
            assert_eq!(numbered(Path::new(output), number), Path::new(expected));
        };
        check("a/chart.png", 0, "a/chart.png");
        check("a/chart.png", 1, "a/chart-2.png");
        check("chart", 2, "chart-3");
    }

    #[test]
    fn every_file_of_an_answer_is_saved_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("out.png");
        let file =
            |base64: &str| AnswerFile { mime: "image/png".to_owned(), base64: base64.to_owned(), name: None };
        let answer =
            ToolAnswer { json: r#"{"$file":0}"#.to_owned(), files: vec![file("QUJD"), file("AAE=")] };
        assert!(save(&answer, &output, false).is_ok());
        assert_eq!(std::fs::read(&output).expect("a file"), b"ABC");
        assert_eq!(std::fs::read(folder.path().join("out-2.png")).expect("a file"), [0, 1]);
        assert!(save(&answer, &output, false).is_err() && check_free(&output).is_err());
        let text = folder.path().join("out.txt");
        assert!(save(&ToolAnswer::of(&Value::from("words")), &text, false).is_ok());
        assert_eq!(std::fs::read_to_string(text).expect("a file"), "words");
    }
}
