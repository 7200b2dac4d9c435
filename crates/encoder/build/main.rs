//! Brings the encoder's weights into the binary: takes the packed file that `GRISTMILL_ENCODER_WEIGHTS`
//! points to, or fetches the published weights, adds
//! what training found, and packs them, once.
//!
//! `GRISTMILL_ENCODER` says what happens without them: `off` builds without an encoder and fetches nothing,
//! `required` makes it an error, as naming another file does. By default the build warns and goes on without.
//!
//! The packed file is cached outside the target folder, under `$GRISTMILL_BUILD_CACHE` or the user's cache
//! folder, and is used only if its hash is the pinned one.

mod adapter;
#[path = "../src/format.rs"]
mod format;
mod pack;
mod published;
mod safetensors;

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What training adds to the published weights.
const ADAPTER: &str = "weights/adapter.bin";

fn main() {
    for path in ["build", "src/format.rs", ADAPTER] {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in
        ["GRISTMILL_ENCODER", "GRISTMILL_ENCODER_WEIGHTS", "GRISTMILL_BUILD_CACHE", "GRISTMILL_PYTHON"]
    {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if let Err(message) = embed() {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
    }
}

fn embed() -> Result<(), String> {
    let wanted = env::var("GRISTMILL_ENCODER").unwrap_or_default();
    // Whoever names a file wants that one.
    let is_named = env::var_os("GRISTMILL_ENCODER_WEIGHTS").is_some();
    let packed = match wanted.as_str() {
        "off" => None,
        "required" => Some(packed_weights()?),
        "" | "auto" if is_named => Some(packed_weights()?),
        "" | "auto" => packed_weights().map_err(|message| warn(&message)).ok(),
        other => {
            return Err(format!("GRISTMILL_ENCODER is `{other}`; it may be `auto`, `required` or `off`"));
        }
    };
    let source = match packed {
        Some(path) => format!("Some(include_bytes!({:?}))", path.display().to_string()),
        None => "None".to_owned(),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?).join("packed_weights.rs");
    fs::write(&out, source).map_err(|error| format!("{}: {error}", out.display()))
}

fn warn(message: &str) {
    println!("cargo::warning=building without the sentence encoder: tool search will go by words only");
    for line in message.lines() {
        println!("cargo::warning={line}");
    }
}

/// The packed file, with the pinned hash.
fn packed_weights() -> Result<PathBuf, String> {
    if let Some(ready) = env::var_os("GRISTMILL_ENCODER_WEIGHTS") {
        let ready = PathBuf::from(ready);
        println!("cargo::rerun-if-changed={}", ready.display());
        let bytes = fs::read(&ready).map_err(|error| format!("{}: {error}", ready.display()))?;
        return match is_pinned(&bytes) {
            true => fs::canonicalize(&ready).map_err(|error| format!("{}: {error}", ready.display())),
            false => Err(format!(
                "GRISTMILL_ENCODER_WEIGHTS: {} isn't the packed file of this version, whose BLAKE3 is {}",
                ready.display(),
                format::PACKED_HASH
            )),
        };
    }
    let cache = cache_folder()?;
    let packed = cache.join(format!("encoder-{}.weights", &format::PACKED_HASH[..16]));
    // If it isn't there, the next build tries again.
    println!("cargo::rerun-if-changed={}", packed.display());
    if !fs::read(&packed).is_ok_and(|bytes| is_pinned(&bytes)) {
        fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
        let adapter = fs::read(ADAPTER).map_err(|error| format!("{ADAPTER}: {error}"))?;
        let bytes = published::with(&cache, |weights, vocabulary| pack::pack(weights, vocabulary, &adapter))?;
        if !is_pinned(&bytes) {
            return Err(format!(
                "the packed weights have the BLAKE3 {}, and {} is pinned in src/format.rs",
                blake3::hash(&bytes).to_hex(),
                format::PACKED_HASH
            ));
        }
        write_atomically(&packed, &bytes)?;
    }
    Ok(packed)
}

fn is_pinned(bytes: &[u8]) -> bool {
    blake3::hash(bytes).to_hex().as_str() == format::PACKED_HASH
}

fn cache_folder() -> Result<PathBuf, String> {
    if let Some(folder) = env::var_os("GRISTMILL_BUILD_CACHE") {
        return Ok(PathBuf::from(folder));
    }
    let base = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .ok_or("neither GRISTMILL_BUILD_CACHE, XDG_CACHE_HOME nor HOME is set: set one of them")?;
    Ok(base.join("gristmill").join("build"))
}

fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|error| format!("{}: {error}", path.display()))
}
