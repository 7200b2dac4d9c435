//! `gristmill setup`: the engine, unpacked ahead of the first run; on request, the type checker.

use anyhow::anyhow;
use gristmill_gateway::{EngineId, Folders};
use gristmill_worker::EngineFile;

use super::{Failure, Outcome, setup_typescript};
use crate::arguments::Setup;
use crate::color::{self, Paint};
use crate::exit_codes;
use crate::spinner::Spinner;

pub fn setup(arguments: Setup) -> Outcome {
    let work = || -> anyhow::Result<()> {
        let file = engine_file(EngineId::Python)?;
        // Not only whether a file is there: one that does not have its hash is made again.
        if arguments.force || !file.is_good() {
            let _spinner = Spinner::start("unpacking the Python engine …");
            file.unpack().map_err(|error| {
                anyhow!(
                    "can't unpack the Python engine to {}: {error}\n\
                     hint: set GRISTMILL_CACHE_DIR to a folder you can write to; programs run without one, \
                     but start more slowly",
                    file.path().display()
                )
            })?;
        }
        let ready = color::painted("ready", Paint::Good, color::on_stdout());
        println!("Python engine {ready}: {}", file.path().display());
        if arguments.typescript {
            let checker = setup_typescript::install(arguments.force)?;
            println!("type checker {ready}: {}", checker.display());
        }
        Ok(())
    };
    work().map(|()| exit_codes::OK).map_err(Failure::Internal)
}

/// Where the engine is unpacked to.
pub fn engine_file(engine: EngineId) -> anyhow::Result<EngineFile> {
    Ok(EngineFile::of(engine, &Folders::from_environment()?.cache.join("engines")))
}
