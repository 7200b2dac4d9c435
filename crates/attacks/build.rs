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
        programs.extend(files.filter(|file| file.extension().is_some_and(|extension| extension == "py")));
    }
    let mut table = String::from("[\n");
    for program in &programs {
        let class = program.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let path = program.display().to_string();
        let _ = writeln!(table, "({class:?}, {name:?}, include_str!({path:?})),");
    }
    table.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR").unwrap_or_default()).join("programs.rs"), table)
}

/// In the order of their names.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    entries.sort();
    Ok(entries)
}
