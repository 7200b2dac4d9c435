//! `gristmill bench …`: the figures that we claim, measured on this machine in one run, each with what
//! it is compared to beside it.

mod analysis;
mod catalogues;
mod figures;
mod gateway;
mod machine;
mod place;
mod row;
mod sandbox;
mod search;
mod serve;
mod serve_client;
mod sessions;
mod shape;
mod temporary;
mod tokens;
mod workloads;

use super::{Failure, Outcome};
use crate::bench_arguments::Bench;
use crate::engine_progress;

pub async fn bench(arguments: Bench) -> Outcome {
    match arguments.what.as_str() {
        "search" => search::measure(arguments),
        "shape" => shape::measure(arguments).map_err(Failure::Ours),
        "gateway" => {
            engine_progress::prepare().map_err(Failure::Ours)?;
            gateway::measure(arguments).await.map_err(Failure::Ours)
        }
        "serve" => {
            engine_progress::prepare().map_err(Failure::Ours)?;
            serve::measure(arguments).await.map_err(Failure::Ours)
        }
        "analysis" => {
            engine_progress::prepare().map_err(Failure::Ours)?;
            analysis::measure(arguments).await.map_err(Failure::Ours)
        }
        "sessions" => {
            engine_progress::prepare().map_err(Failure::Ours)?;
            sessions::measure(arguments).await.map_err(Failure::Ours)
        }
        "tokens" => {
            engine_progress::prepare().map_err(Failure::Ours)?;
            tokens::measure(arguments).await
        }
        _ => {
            engine_progress::prepare().map_err(Failure::Ours)?;
            sandbox::measure(arguments).await.map_err(Failure::Ours)
        }
    }
}
