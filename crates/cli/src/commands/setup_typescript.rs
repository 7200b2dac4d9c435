//! `gristmill setup --typescript`: the type checker, fetched with npm and held against its hash.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use gristmill_gateway::Folders;
use sha2::{Digest, Sha512};

use crate::spinner::Spinner;
use crate::type_checker::{VERSION, binary_in, folder_in, is_installed, platform};

/// The archives of this version, as npm's registry names their SHA-512.
const ARCHIVES: [(&str, &str); 4] = [
    ("linux-x64", "EYdf2cNg7rgCWJnxCdJ+F3V39O8ihb37eHAu1LK8oAFizgTQbPOK7zHHXbPt8rX24COqODXeI3sIf0fCXG7H/A=="),
    (
        "linux-arm64",
        "Qh4eU4/y3yDjnfjjyPYihMj5/ODIlmt+Bzu17OI+fiSRDW57QmU5SiN63exPRNJPKUzcc1INa1NXdrJ+MqHjUQ==",
    ),
    (
        "darwin-x64",
        "SZ9xZInqApNlNGc9s0W1VSsktYSOe9cFqNOIqmN1Gs8SmkjKZYFt017G4VwPxASInODuAdbTW7sXiFUf893RgA==",
    ),
    (
        "darwin-arm64",
        "gowzar9MwS/aRWp6f3a4KUqzRjAZjOsmGNCM6LcTgXum+dBfgsBVMN+AgvOCCbguXyick6LJhpBszxMebJ8syA==",
    ),
];

/// An archive is a third of this.
const ARCHIVE_BYTES_MAX: u64 = 32 * 1024 * 1024;
const UNPACKED_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// A block of a tar archive.
const BLOCK: usize = 512;

/// Installs the pinned version, unless it is there. Gives the checker's path.
pub fn install(is_forced: bool) -> anyhow::Result<PathBuf> {
    let cache = Folders::from_environment()?.cache;
    let folder = folder_in(&cache);
    if is_installed(&cache) && !is_forced {
        return Ok(binary_in(&folder));
    }
    let platform = platform().ok_or_else(|| {
        anyhow!("TypeScript {VERSION} has no type checker for this machine; programs run without one")
    })?;
    let _spinner = Spinner::start("fetching the type checker …");
    fs::create_dir_all(&cache).with_context(|| format!("can't create {}", cache.display()))?;
    let staging = cache.join(format!("typescript-new-{}", std::process::id()));
    let _ = fs::remove_dir_all(&staging);
    fs::create_dir_all(&staging).with_context(|| format!("can't create {}", staging.display()))?;
    let outcome = fetch(platform, &staging).and_then(|archive| put(&archive, &staging, &folder));
    let _ = fs::remove_dir_all(&staging);
    outcome.map(|()| binary_in(&folder))
}

/// The archive, with the hash that it must have.
fn fetch(platform: &str, staging: &Path) -> anyhow::Result<Vec<u8>> {
    let package = format!("@typescript/typescript-{platform}@{VERSION}");
    let npm = std::env::var_os("GRISTMILL_NPM").unwrap_or_else(|| "npm".into());
    let packing = Command::new(&npm)
        .args(["pack", "--silent", "--ignore-scripts", &package])
        .current_dir(staging)
        .stdin(Stdio::null())
        .output();
    let packed = packing.map_err(|error| {
        anyhow!(
            "the type checker is fetched with npm, and `{}` doesn't start: {error}\n\
             hint: install Node.js, which brings npm, or set GRISTMILL_NPM to an npm",
            npm.to_string_lossy()
        )
    })?;
    if !packed.status.success() {
        let said = String::from_utf8_lossy(&packed.stderr);
        bail!(
            "npm can't fetch {package}: {}\nhint: check the network and npm's settings; programs run without it",
            said.trim().lines().last().unwrap_or("it doesn't say why")
        );
    }
    let archive = fs::read_dir(staging)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "tgz"))
        .ok_or_else(|| anyhow!("npm has packed {package} and left no archive; run the command again"))?;
    let mut bytes = Vec::new();
    fs::File::open(&archive)?.take(ARCHIVE_BYTES_MAX).read_to_end(&mut bytes)?;
    check_hash(&bytes, platform)?;
    Ok(bytes)
}

fn check_hash(archive: &[u8], platform: &str) -> anyhow::Result<()> {
    let hash = STANDARD.encode(Sha512::digest(archive));
    let is_pinned = ARCHIVES.iter().any(|(known, pinned)| *known == platform && *pinned == hash);
    if !is_pinned {
        bail!(
            "the archive of TypeScript {VERSION} for {platform} isn't the pinned one (sha512-{hash}); nothing was \
             installed\nhint: check which registry npm uses: `npm config get registry`"
        );
    }
    Ok(())
}

/// Unpacks it beside its place, and moves it there.
fn put(archive: &[u8], staging: &Path, folder: &Path) -> anyhow::Result<()> {
    let package = staging.join("package");
    unpack(archive, &package)?;
    fs::set_permissions(binary_in(&package), Permissions::from_mode(0o755))?;
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    let _ = fs::remove_dir_all(folder);
    fs::rename(&package, folder).with_context(|| format!("can't install to {}", folder.display()))
}

/// The files of an npm archive, without the folder that it has around them.
fn unpack(archive: &[u8], to: &Path) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    GzDecoder::new(archive)
        .take(UNPACKED_BYTES_MAX)
        .read_to_end(&mut bytes)
        .context("the archive is damaged")?;
    let mut rest = bytes.as_slice();
    while let Some((header, after)) = rest.split_first_chunk::<BLOCK>() {
        if header.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let size =
            usize::from_str_radix(text(&header[124..136]).trim(), 8).context("the archive is damaged")?;
        let content = after.get(..size).ok_or_else(|| anyhow!("the archive is cut off"))?;
        let name = text(&header[..100]);
        let is_file = matches!(header[156], b'0' | 0);
        if let Some(name) = name.strip_prefix("package/").filter(|_| is_file) {
            if name.split('/').any(|part| part.is_empty() || part == "..") {
                bail!("the archive has a file that isn't a package's: {name}");
            }
            let path = to.join(name);
            fs::create_dir_all(path.parent().unwrap_or(to))?;
            fs::write(&path, content).with_context(|| format!("can't write {}", path.display()))?;
        }
        rest = after.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
    }
    Ok(())
}

/// What stands before the first zero.
fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, content) in files {
            let mut header = [0; BLOCK];
            header[..name.len()].copy_from_slice(name.as_bytes());
            header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
            header[156] = b'0';
            bytes.extend(header);
            bytes.extend(content.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        }
        bytes.extend([0; 2 * BLOCK]);
        let mut made = GzEncoder::new(Vec::new(), Compression::fast());
        made.write_all(&bytes).expect("memory");
        made.finish().expect("memory")
    }

    #[test]
    fn a_package_is_unpacked_without_the_folder_around_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let packed = archive(&[("package/lib/tsc", "native"), ("package/package.json", "{}")]);
        unpack(&packed, folder.path()).expect("files");
        assert_eq!(fs::read_to_string(folder.path().join("lib/tsc")).expect("a file"), "native");
    }

    #[test]
    fn an_archive_that_leads_elsewhere_or_has_another_hash_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let packed = archive(&[("package/../../evil", "x")]);
        assert!(unpack(&packed, folder.path()).is_err());
        let refused = check_hash(&packed, "linux-x64").expect_err("another hash").to_string();
        assert!(refused.contains("isn't the pinned one") && refused.contains("hint:"), "{refused}");
    }
}
