//! Packs the guides of docs/ for `gristmill help`: every page that isn't a decision, a reference or the contents.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the pages may be together; the binary unpacks them into a buffer of this size.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// They are packed once, and read by few: small is better than fast.
const PACKING_LEVEL: i32 = 19;

fn main() {
    if let Err(message) = pack() {
        println!("cargo::error={message}");
    }
}

fn pack() -> Result<(), String> {
    let docs = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../docs");
    let mut pages = Vec::new();
    for folder in [docs.clone(), docs.join("how-to")] {
        println!("cargo::rerun-if-changed={}", folder.display());
        pages.extend(pages_of(&folder)?);
    }
    pages.sort();
    let joined = pages.iter().map(|(name, text)| format!("{name}\n{text}")).collect::<Vec<_>>().join("\0");
    if pages.iter().any(|(_, text)| text.contains('\0')) || joined.len() > BYTES_MAX {
        return Err(format!("the guides of {} are not text, or too large", docs.display()));
    }
    let packed = zstd::bulk::compress(joined.as_bytes(), PACKING_LEVEL).map_err(|error| error.to_string())?;
    let place = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("guides.zst");
    fs::write(&place, packed).map_err(|error| format!("{}: {error}", place.display()))
}

/// Names and texts of the pages right in a folder.
fn pages_of(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.extension().is_some_and(|end| end == "md") && name != "README" && name != "SUMMARY" {
            println!("cargo::rerun-if-changed={}", path.display());
            pages.push((name, fs::read_to_string(&path).map_err(told)?));
        }
    }
    Ok(pages)
}
