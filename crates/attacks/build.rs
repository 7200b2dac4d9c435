//! Makes one table of all programs in `programs/`, so that the binary brings them along.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("programs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut programs = Vec::new();
    for class in entries(&folder)? {
        println!("cargo::rerun-if-changed={}", class.display());
        let files = entries(&class)?.into_iter();
        programs.extend(files.filter(|file| language_of(file).is_some()));
    }
    let mut table = String::from("[\n");
    for program in &programs {
        let class = program.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let path = program.display().to_string();
        let language = language_of(program).unwrap_or_default();
        let _ = writeln!(table, "(Language::{language}, {class:?}, {name:?}, include_str!({path:?})),");
    }
    table.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR").unwrap_or_default()).join("programs.rs"), table)
}

/// The variant of `Language` that a program is written in, by its ending.
fn language_of(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "py" => Some("Python"),
        "js" | "ts" => Some("JavaScript"),
        _ => None,
    }
}

/// In the order of their names.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    entries.sort();
    Ok(entries)
}
