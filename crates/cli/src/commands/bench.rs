//! `gristmill bench`: measures what we claim.

use gristmill_bench::{Bench, BenchError};

use super::{Failure, Outcome};

pub async fn bench(arguments: Bench) -> Outcome {
    gristmill_bench::run(arguments).await.map_err(|error| match error {
        BenchError::Usage(error) => Failure::Usage(error),
        BenchError::Failed(error) => Failure::Internal(error),
    })
}
