//! QuickJS as a WebAssembly module, from the npm package that is pinned here, and the guest's own
//! JavaScript, joined to one script.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::tell;

const PACKAGE: &str = "quickjs-wasi";
const VERSION: &str = "3.6.2";

/// Of the package's archive, as npm tells it.
const INTEGRITY: &str =
    "sha512-FCqGtGOrMgzUiIrMNMA2YnsOxCNwo31dzqXvclXUC6xeT35NJLKXQJsvbeCTjvoFAwZgEAPg8U6+KAPDGXn8Mg==";

/// Of the module in it, by BLAKE3: what is in the cache is checked as well.
const MODULE_HASH: &str = "043bf0da72910f531cb039f3272de72432cef56d7f3ea3260aaefcfef7feb65b";

/// What names the prelude's files, in their order.
const ORDER: &str = "order.txt";

/// The module, fetched unless it is in the cache.
pub fn fetch(cache: &Path) -> Result<PathBuf, String> {
    let module = cache.join(format!("{PACKAGE}-{VERSION}.wasm"));
    if !is_pinned(&module) {
        tell(&format!("fetching {PACKAGE} {VERSION} with npm, once"));
        let folder = cache.join(format!("{PACKAGE}.{}.tmp", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let fetched = unpack(&folder).and_then(|unpacked| take(&unpacked, &module));
        let _ = fs::remove_dir_all(&folder);
        fetched?;
    }
    Ok(module)
}

/// All of the guest's JavaScript as one script: an expression whose value is a function.
pub fn prelude(guest: &Path) -> Result<String, String> {
    let folder = guest.join("prelude");
    println!("cargo::rerun-if-changed={}", folder.display());
    let read = |name: &str| {
        let path = folder.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut joined = String::from("(function (host) {\n\"use strict\";\n");
    for name in read(ORDER)?.lines().filter(|name| !name.is_empty()) {
        joined.push_str(&read(name)?);
    }
    joined.push_str("return control;\n})\n");
    Ok(joined)
}

fn is_pinned(module: &Path) -> bool {
    fs::read(module).is_ok_and(|bytes| blake3::hash(&bytes).to_hex().as_str() == MODULE_HASH)
}

/// The package's archive, fetched into `folder` and unpacked there. Gives the module in it.
fn unpack(folder: &Path) -> Result<PathBuf, String> {
    let npm = env::var("GRISTMILL_NPM").unwrap_or_else(|_| "npm".to_owned());
    let package = format!("{PACKAGE}@{VERSION}");
    let packed = run(Command::new(&npm).args(["pack", "--json", &package]).current_dir(folder), &npm)?;
    if !packed.contains(INTEGRITY) {
        return Err(format!("{package} isn't the pinned one: npm tells another hash than {INTEGRITY}"));
    }
    let archive = format!("{PACKAGE}-{VERSION}.tgz");
    run(Command::new("tar").args(["-xzf", &archive, "package/quickjs.wasm"]).current_dir(folder), "tar")?;
    Ok(folder.join("package/quickjs.wasm"))
}

fn take(unpacked: &Path, module: &Path) -> Result<(), String> {
    if !is_pinned(unpacked) {
        return Err(format!("the module in {PACKAGE} {VERSION} isn't the pinned one"));
    }
    fs::rename(unpacked, module).map_err(|error| format!("{}: {error}", module.display()))
}

fn run(command: &mut Command, program: &str) -> Result<String, String> {
    let output = command.output().map_err(|error| {
        format!(
            "the engine for TypeScript is fetched with npm, and `{program}` does not start: {error}\n\
             install Node.js 20 or newer, which brings npm, or set GRISTMILL_NPM to an npm,\n\
             or GRISTMILL_QUICKJS_MODULE to the quickjs.wasm of {PACKAGE} {VERSION}"
        )
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "fetching {PACKAGE} {VERSION} failed (`{program}`: {}):\n{}\n\
             check the network, or set GRISTMILL_QUICKJS_MODULE to the quickjs.wasm of that package",
            output.status,
            said.trim()
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
