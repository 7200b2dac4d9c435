//! What the native engine puts around programs: the sources of the guest, those that lead from it to the worker, and
//! the packages that are bundled, in one packed file.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Packs them into `native_guest.zst`, which the crate includes. `bundled` may be missing where a ready component
/// is used: the packages in it are in that component only, then.
pub fn pack(guests: &Path, bundled: Option<&Path>) -> Result<(), String> {
    let mut packed = Vec::new();
    for (root, package) in [("python", "gristmill_guest"), ("native", "gristmill_native")] {
        let root = guests.join(root);
        println!("cargo::rerun-if-changed={}", root.join(package).display());
        add(&root, &root.join(package), &mut packed)?;
    }
    if let Some(bundled) = bundled {
        add(bundled, bundled, &mut packed)?;
    }
    let failed = |error: std::io::Error| format!("packing the native guest: {error}");
    let packed = zstd::encode_all(packed.as_slice(), 9).map_err(failed)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(out.join("native_guest.zst"), packed).map_err(failed)
}

/// For each file the length of its name, the name, the length of its bytes, the bytes.
fn add(root: &Path, folder: &Path, packed: &mut Vec<u8>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut entries: Vec<_> =
        fs::read_dir(folder).map_err(failed)?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "__pycache__" {
                add(root, &path, packed)?;
            }
        } else if name != ".pins" && !name.ends_with(".so") && !name.ends_with(".pyc") {
            let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            for bytes in [shown.into_bytes(), fs::read(&path).map_err(failed)?] {
                let length = u32::try_from(bytes.len()).map_err(|error| error.to_string())?;
                packed.extend(length.to_le_bytes());
                packed.extend(bytes);
            }
        }
    }
    Ok(())
}
