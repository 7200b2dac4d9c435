//! An engine's compiled code: from this binary, where the build put it packed, into memory.
//!
//! It is unpacked once into the user's cache, so that starting is fast and several gateways share the
//! memory. What is there is never trusted: owner, mode and hash are checked on every load, and the hash
//! is part of this binary. Where no file can be kept, a sealed one in memory serves as well.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use wasmtime::component::Component;
use wasmtime::{Engine, Module};

/// Unpacked code of other versions is kept this long after its last use.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// A file that is being written is never this old.
const UNFINISHED_FOR: Duration = Duration::from_secs(3600);

#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// No program can run. A cache folder helps where memory files are not to be had.
    #[error("can't unpack the engine: {0}; set GRISTMILL_CACHE_DIR to a folder of your own")]
    Unpack(io::Error),
    /// No program can run: this binary is damaged, or the machine is not the one it was built for.
    #[error("can't load the engine: {0:#}")]
    Load(wasmtime::Error),
}

/// What the build put into this binary.
pub struct CompiledCode {
    pub name: &'static str,
    pub packed: &'static [u8],
    pub bytes: usize,
    /// Of the unpacked code, by BLAKE3.
    pub hash: &'static str,
}

impl CompiledCode {
    /// Loads a component, and unpacks it before if need be.
    pub fn load_component(&self, engine: &Engine, cache: &Path) -> Result<Component, CodeError> {
        let file = self.opened(cache)?;
        // SAFETY: these bytes came out of the compiler when this binary was built: they have the hash that
        // they had then, or were unpacked from the binary just now into a file that nobody else may write.
        unsafe { Component::deserialize_file(engine, descriptor_path(&file)) }.map_err(CodeError::Load)
    }

    /// Loads a module, and unpacks it before if need be.
    pub fn load_module(&self, engine: &Engine, cache: &Path) -> Result<Module, CodeError> {
        let file = self.opened(cache)?;
        // SAFETY: as for a component.
        unsafe { Module::deserialize_file(engine, descriptor_path(&file)) }.map_err(CodeError::Load)
    }

    /// The file, which was checked: it is mapped by its descriptor, not by whatever has its name now.
    fn opened(&self, cache: &Path) -> Result<File, CodeError> {
        match self.open(cache) {
            Some(file) => Ok(file),
            None => self.unpack(cache),
        }
    }

    /// Where it is unpacked to.
    pub fn path(&self, cache: &Path) -> PathBuf {
        cache.join(format!("{}-{}.cwasm", self.name, self.hash))
    }

    /// The unpacked file, if it is there, is ours alone to write, and has its hash.
    pub fn open(&self, cache: &Path) -> Option<File> {
        // A pipe or a link in its place is neither waited for nor followed.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        let mut options = OpenOptions::new();
        let mut file = options.read(true).custom_flags(flags.bits() as i32).open(self.path(cache)).ok()?;
        let metadata = file.metadata().ok()?;
        let is_good = is_ours(&metadata)
            && metadata.len() == self.bytes as u64
            && hash_of(&mut file).ok()? == self.hash;
        is_good.then_some(file)
    }

    /// Unpacks it into the cache; where that cannot be, into memory.
    fn unpack(&self, cache: &Path) -> Result<File, CodeError> {
        let code = self.unpacked().map_err(CodeError::Unpack)?;
        match self.write(cache, &code) {
            Ok(file) => Ok(file),
            Err(in_cache) => in_memory(self.name, &code).map_err(|_| CodeError::Unpack(in_cache)),
        }
    }

    /// Unpacks it into the cache, or fails.
    pub fn unpack_to_cache(&self, cache: &Path) -> io::Result<()> {
        self.write(cache, &self.unpacked()?).map(drop)
    }

    fn unpacked(&self) -> io::Result<Vec<u8>> {
        zstd::bulk::decompress(self.packed, self.bytes)
    }

    /// Appears whole or not at all. Not synced: a file that a power failure cut has not its hash.
    fn write(&self, cache: &Path, code: &[u8]) -> io::Result<File> {
        fs::create_dir_all(cache)?;
        fs::set_permissions(cache, Permissions::from_mode(0o700))?;
        clear_away(cache);
        let temporary = cache.join(format!("{}.{}.tmp", self.name, std::process::id()));
        let _ = fs::remove_file(&temporary);
        let mut file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o400).open(&temporary)?;
        let written = file.write_all(code).and_then(|()| fs::rename(&temporary, self.path(cache)));
        if let Err(error) = written {
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        Ok(file)
    }
}

/// A file without a name that nobody can write any more, ourselves included.
#[cfg(target_os = "linux")]
fn in_memory(name: &str, code: &[u8]) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(code)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn in_memory(_name: &str, _code: &[u8]) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Half-written files, and other versions that nobody has used for long.
fn clear_away(cache: &Path) {
    let Ok(entries) = fs::read_dir(cache) else { return };
    for entry in entries.flatten() {
        let (path, metadata) = (entry.path(), entry.metadata());
        let used = metadata.ok().and_then(|metadata| metadata.accessed().ok());
        let Some(age) = used.and_then(|used| SystemTime::now().duration_since(used).ok()) else { continue };
        let kept_for = match path.extension().and_then(|extension| extension.to_str()) {
            Some("tmp") => UNFINISHED_FOR,
            Some("cwasm") => KEPT_FOR,
            Some(_) | None => continue,
        };
        if age > kept_for {
            let _ = fs::remove_file(path);
        }
    }
}

fn hash_of(file: &mut File) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1024 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            count => hasher.update(&buffer[..count]),
        };
    }
}

/// Owned by us, and writable by nobody else.
fn is_ours(metadata: &fs::Metadata) -> bool {
    let user = rustix::process::geteuid().as_raw();
    metadata.is_file() && metadata.uid() == user && metadata.mode() & 0o022 == 0
}

fn descriptor_path(file: &File) -> PathBuf {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    Path::new(folder).join(file.as_raw_fd().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_testkit::TestFolder;

    const CODE: &[u8] = b"not a component, but bytes";

    fn compiled() -> CompiledCode {
        let packed = zstd::bulk::compress(CODE, 1).unwrap().leak();
        let hash = blake3::hash(CODE).to_hex().to_string().leak();
        CompiledCode { name: "test", packed, bytes: CODE.len(), hash }
    }

    fn content(mut file: File) -> Vec<u8> {
        use std::io::Seek;
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).unwrap();
        bytes
    }

    #[test]
    fn what_is_unpacked_is_found_again_and_is_ours_alone() {
        let (folder, code) = (TestFolder::new("code"), compiled());
        let cache = folder.path().join("engines");
        assert!(code.open(&cache).is_none());
        assert_eq!(content(code.unpack(&cache).unwrap()), CODE);
        assert_eq!(content(code.open(&cache).unwrap()), CODE);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&cache), mode(&code.path(&cache))), (0o700, 0o400));
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 1, "nothing half-written is left");
    }

    #[test]
    fn a_file_that_others_may_write_or_that_was_changed_is_not_trusted() {
        let (folder, code) = (TestFolder::new("code"), compiled());
        code.unpack(folder.path()).unwrap();
        let path = code.path(folder.path());
        fs::set_permissions(&path, Permissions::from_mode(0o622)).unwrap();
        assert!(code.open(folder.path()).is_none());
        fs::write(&path, b"not a component, but other bytes").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        assert!(code.open(folder.path()).is_none());
        assert_eq!(content(code.unpack(folder.path()).unwrap()), CODE, "it is made again");
        assert!(code.open(folder.path()).is_some());
    }

    #[test]
    fn a_pipe_or_a_link_in_its_place_is_replaced() {
        let (folder, code) = (TestFolder::new("code"), compiled());
        let (path, elsewhere) = (code.path(folder.path()), folder.path().join("elsewhere"));
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(code.open(folder.path()).is_none());
        assert_eq!(content(code.unpack(folder.path()).unwrap()), CODE);
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(code.open(folder.path()).is_none());
        assert_eq!(content(code.unpack(folder.path()).unwrap()), CODE);
        assert!(code.open(folder.path()).is_some());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn without_a_cache_the_code_is_in_memory_where_nobody_can_change_it() {
        let folder = TestFolder::new("code");
        let not_a_folder = folder.path().join("file");
        fs::write(&not_a_folder, "").unwrap();
        let mut file = compiled().unpack(&not_a_folder).unwrap();
        assert!(file.write_all(b"x").is_err() && file.set_len(0).is_err());
        assert_eq!(content(file), CODE);
    }
}
