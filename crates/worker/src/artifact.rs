//! The guest compiled for this machine's CPU, kept in the user's cache.
//!
//! One file, whose name carries both what it was made from and the hash of its bytes; it appears
//! by one rename. It is executable code, so it is never trusted by its name alone: owner, mode
//! and hash are checked on every load, and what does not match is made again.

use std::fs::{self, File, Permissions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, flock};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::component::{component_bytes, component_id};
use crate::engine;
use crate::entry::COMPILE_COMMAND;

/// Compiled files of other versions are kept this long after their last use.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// Why there is no compiled engine.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// Nothing was written.
    #[error("the cache folder {} cannot be used: {source}; set GRISTMILL_CACHE_DIR to a folder of yours", .folder.display())]
    Cache {
        /// Which folder.
        folder: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// The compiler process did not finish. The cache is as it was.
    #[error("compiling the engine failed: {0}")]
    Compile(String),
    /// The engine refused its own file.
    #[error("the engine does not load: {0}")]
    Load(String),
}

/// Told now and then while the compiler runs.
pub struct CompileProgress {
    /// Since it started.
    pub elapsed: Duration,
}

/// A place in the cache where this binary's compiled engine belongs.
pub struct Artifact {
    folder: PathBuf,
    key: String,
}

impl Artifact {
    /// Where the compiled engine of this binary, on this CPU, lies or will lie.
    pub fn in_cache(folder: impl Into<PathBuf>) -> Result<Self, ArtifactError> {
        let engine = engine::runtime().map_err(|error| ArtifactError::Load(format!("{error:#}")))?;
        Ok(Self { folder: folder.into(), key: key_for(&engine) })
    }

    /// Whether a compiled file is there. Its hash is not checked: loading does that.
    pub fn is_ready(&self) -> bool {
        self.find().is_some()
    }

    /// The compiled file, if there is one.
    pub fn path(&self) -> Option<PathBuf> {
        self.find().map(|(path, _)| path)
    }

    /// Whether the compiled file is there, is ours, has its hash and loads.
    pub fn verify(&self) -> Result<bool, ArtifactError> {
        let engine = engine::runtime().map_err(|error| ArtifactError::Load(format!("{error:#}")))?;
        Ok(self.load(&engine)?.is_some())
    }

    /// Loads the compiled engine. `None` when it is missing or not what its name says.
    pub fn load(&self, engine: &Engine) -> Result<Option<Component>, ArtifactError> {
        let Some((path, expected)) = self.find() else { return Ok(None) };
        let Ok(mut file) = File::open(&path) else { return Ok(None) };
        if !is_ours(&file) || hash_of(&mut file).ok().as_deref() != Some(&expected) {
            return Ok(None);
        }
        // The descriptor that was hashed is the one that is mapped, not whatever has its name now.
        let opened = fd_path(&file);
        // SAFETY: the file was written by `compile` below, is ours alone to write, and its bytes
        // have the hash they had when they came out of the compiler.
        let component = unsafe { Component::deserialize_file(engine, opened) };
        // A wasmtime that does not want the file means a foreign one: make it again.
        Ok(component.ok())
    }

    /// Compiles in a process of its own, under a lock, unless another process was faster.
    /// `executable` must be a binary that calls [`run_if_worker`](crate::run_if_worker).
    pub fn prepare(
        &self,
        executable: &Path,
        mut progress: impl FnMut(CompileProgress),
    ) -> Result<(), ArtifactError> {
        let cache = |source| ArtifactError::Cache { folder: self.folder.clone(), source };
        fs::create_dir_all(&self.folder).map_err(cache)?;
        fs::set_permissions(&self.folder, Permissions::from_mode(0o700)).map_err(cache)?;
        let lock = File::create(self.folder.join("compile.lock")).map_err(cache)?;
        let started = Instant::now();
        while flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            progress(CompileProgress { elapsed: started.elapsed() });
            std::thread::sleep(Duration::from_millis(100));
        }
        if self.verify()? {
            return Ok(());
        }
        let mut compiler = Command::new(executable);
        compiler.arg(COMPILE_COMMAND).arg(&self.folder);
        compiler.env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = compiler.spawn().map_err(|error| ArtifactError::Compile(error.to_string()))?;
        // Held until the compiler is done: it ends when this end of its input closes.
        let _alive = child.stdin.take();
        let status = loop {
            if let Some(status) =
                child.try_wait().map_err(|error| ArtifactError::Compile(error.to_string()))?
            {
                break status;
            }
            progress(CompileProgress { elapsed: started.elapsed() });
            std::thread::sleep(Duration::from_millis(100));
        };
        if status.success() {
            return Ok(());
        }
        let mut said = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        Err(ArtifactError::Compile(format!("{status}: {}", said.trim())))
    }

    /// The compiler process's work: compile, write, rename, and clear away what is old.
    pub(crate) fn compile(&self) -> Result<(), ArtifactError> {
        let cache = |source| ArtifactError::Cache { folder: self.folder.clone(), source };
        let engine = engine::compiler().map_err(|error| ArtifactError::Compile(format!("{error:#}")))?;
        let component = component_bytes().map_err(|error| ArtifactError::Compile(error.to_string()))?;
        let compiled = engine
            .precompile_component(&component)
            .map_err(|error| ArtifactError::Compile(format!("{error:#}")))?;
        let temporary = self.folder.join(format!("{}.{}.tmp", self.key, std::process::id()));
        let written = File::create(&temporary)
            .and_then(|mut file| file.write_all(&compiled).and_then(|()| file.sync_all()));
        if let Err(error) = written {
            let _ = fs::remove_file(&temporary);
            return Err(cache(error));
        }
        fs::set_permissions(&temporary, Permissions::from_mode(0o400)).map_err(cache)?;
        self.clear_away();
        let name = format!("{}-{}.cwasm", self.key, blake3::hash(&compiled).to_hex());
        fs::rename(&temporary, self.folder.join(name)).map_err(cache)
    }

    fn find(&self) -> Option<(PathBuf, String)> {
        let entries = fs::read_dir(&self.folder).ok()?;
        entries.flatten().find_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let hash = name.strip_prefix(&self.key)?.strip_prefix('-')?.strip_suffix(".cwasm")?;
            Some((entry.path(), hash.to_owned()))
        })
    }

    /// Our own broken files, half-written ones, and other versions that nobody has used for long.
    fn clear_away(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            let age = metadata.accessed().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
            let old = age.is_some_and(|age| age > KEPT_FOR);
            let ours = name.starts_with(&self.key) && name.ends_with(".cwasm");
            let stale = name.ends_with(".tmp") && age.is_some_and(|age| age > Duration::from_secs(3600));
            if ours || stale || (old && name.ends_with(".cwasm")) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// What the file was made from: the guest, the engine's version and settings, the CPU's features.
fn key_for(engine: &Engine) -> String {
    struct Blake3Hasher(blake3::Hasher);
    impl Hasher for Blake3Hasher {
        fn finish(&self) -> u64 {
            0
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
    }
    let mut hasher = Blake3Hasher(blake3::Hasher::new());
    component_id().hash(&mut hasher);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("python-{}", &hasher.0.finalize().to_hex()[..16])
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
fn is_ours(file: &File) -> bool {
    let user = rustix::process::geteuid().as_raw();
    file.metadata().is_ok_and(|metadata| metadata.uid() == user && metadata.mode() & 0o022 == 0)
}

fn fd_path(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    Path::new(folder).join(file.as_raw_fd().to_string())
}
