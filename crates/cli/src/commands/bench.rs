//! `gristmill bench`: measures what we claim.

use gristmill_bench::{Bench, BenchError};

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::native_engine;

pub async fn bench(arguments: Bench) -> Outcome {
    let measured = match (arguments.what.as_str(), arguments.engine.as_str()) {
        ("sandbox", "native") => {
            let native = native_engine::wanted(&ConfigFile::default())?;
            gristmill_bench::run_native(arguments, native).await
        }
        _ => gristmill_bench::run(arguments).await,
    };
    measured.map_err(|error| match error {
        BenchError::Usage(error) => Failure::Usage(error),
        BenchError::Failed(error) => Failure::Internal(error),
    })
}
