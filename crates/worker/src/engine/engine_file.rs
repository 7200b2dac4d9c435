//! The file that an engine's code is unpacked to, for whoever looks after it: `setup` and `doctor`.

use std::path::{Path, PathBuf};

use gristmill_protocol::EngineId;

use super::wasm::CompiledCode;
use super::{python, typescript};

pub struct EngineFile {
    engine: EngineId,
    code: &'static CompiledCode,
    cache: PathBuf,
}

impl EngineFile {
    pub fn of(engine: EngineId, cache: &Path) -> Self {
        let code = match engine {
            // The native engine is the machine's own; what this binary carries is Python's.
            EngineId::Python | EngineId::Native => &python::CODE,
            EngineId::TypeScript => &typescript::CODE,
        };
        Self { engine, code, cache: cache.to_owned() }
    }

    /// Where it is, or will be.
    pub fn path(&self) -> PathBuf {
        self.code.path(&self.cache)
    }

    /// Whether it is there, is ours alone to write, and has its hash.
    pub fn is_good(&self) -> bool {
        self.code.open(&self.cache).is_some()
    }

    /// Unpacks it from this binary. Whoever runs programs does so by himself.
    pub fn unpack(&self) -> std::io::Result<()> {
        self.code.unpack_to_cache(&self.cache)
    }

    /// Which guest this binary carries: the hash of its component.
    pub fn guest(&self) -> &'static str {
        match self.engine {
            EngineId::Python | EngineId::Native => python::COMPONENT_HASH,
            EngineId::TypeScript => typescript::MODULE_HASH,
        }
    }
}
