//! `gristmill bench …`: the figures that we claim, measured on this machine in one run, each with what
//! it is compared to beside it.

mod analysis;
mod arguments;
mod beside_javascript;
mod calculator;
mod catalogues;
mod cluster;
mod dashboard;
mod figures;
mod gateway;
mod guards;
mod guest;
mod machine;
mod place;
mod privacy;
mod ratios;
mod row;
mod sandbox;
mod sandbox_native;
mod sandbox_typescript;
mod search;
mod serve;
mod serve_client;
mod serve_profile;
mod sessions;
mod shape;
mod sides;
mod telemetry;
mod temporary;
mod tokens;
mod workloads;

use std::process::ExitCode;

use gristmill_gateway::NativeEngine;
use gristmill_gateway::ports::BoxFuture;

pub use arguments::Bench;

/// A measurement that was not made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The command line, or a file that it names, is wrong.
    #[error("{0:#}")]
    Usage(anyhow::Error),
    /// Something failed on the way.
    #[error("{0:#}")]
    Failed(#[from] anyhow::Error),
}

/// Measures, and prints the figures.
pub fn run(arguments: Bench) -> BoxFuture<'static, Result<ExitCode, BenchError>> {
    Box::pin(measure(arguments))
}

/// The same for the native engine.
pub fn run_native(
    arguments: Bench,
    native: NativeEngine,
) -> BoxFuture<'static, Result<ExitCode, BenchError>> {
    Box::pin(async move { Ok(sandbox_native::measure(arguments, native).await?) })
}

async fn measure(arguments: Bench) -> Result<ExitCode, BenchError> {
    match arguments.what.as_str() {
        "privacy" => privacy::measure(&arguments),
        "search" => search::measure(arguments),
        "cluster" => cluster::measure(&arguments.cluster, &arguments.shared()),
        "tokens" => tokens::measure(arguments).await,
        "shape" => Ok(shape::measure(arguments)?),
        "gateway" => Ok(gateway::measure(arguments).await?),
        "serve" if arguments.profile => Ok(serve_profile::measure(arguments).await?),
        "serve" => Ok(serve::measure(arguments).await?),
        "dashboard" => Ok(dashboard::measure(arguments).await?),
        "analysis" => Ok(analysis::measure(arguments).await?),
        "telemetry" => Ok(telemetry::measure(arguments).await?),
        "ratios" => Ok(ratios::measure(arguments).await?),
        "guest" => Ok(guest::measure(arguments).await?),
        "sessions" => Ok(sessions::measure(arguments).await?),
        _ if arguments.language == "typescript" => Ok(sandbox_typescript::measure(arguments).await?),
        _ => Ok(sandbox::measure(arguments).await?),
    }
}
