//! `gristmill setup`: the engine, compiled ahead of time.

use super::{Failure, Outcome};
use crate::arguments::Setup;
use crate::{engine_progress, exit_codes};

pub fn setup(arguments: Setup) -> Outcome {
    let work = || -> anyhow::Result<()> {
        let artifact = engine_progress::artifact()?;
        if arguments.force
            && let Some(path) = artifact.path()
        {
            std::fs::remove_file(path)?;
        }
        // Not only whether a file is there: one that does not have its hash is made again.
        if !artifact.verify()? {
            engine_progress::compile(&artifact)?;
        }
        let path = artifact.path().map(|path| path.display().to_string()).unwrap_or_default();
        println!("the Python engine is ready: {path}");
        Ok(())
    };
    work().map(|()| exit_codes::OK).map_err(Failure::Ours)
}
