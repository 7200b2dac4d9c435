//! `gristmill bench tokens`: what the same jobs cost a model in tokens, by direct tool calls, by
//! direct calls with a tool search, and by programs through us in each language. Rules: docs/token-benchmark.md.

mod direct;
mod figures;
mod gateway;
mod job;
mod jobs;
mod picture;
mod show;
mod shown;
mod stand_ins;
mod table;
mod transcript;
mod typescript;
mod ways;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::domain::nearest;

use self::figures::{Figures, JobFigures};
use self::job::Job;
use self::ways::World;
use crate::BenchError;
use crate::arguments::Bench;

/// Where the definitions are in the repository.
const CATALOGUES: &str = "benches/tokens/catalogues";

pub async fn measure(arguments: Bench) -> Result<ExitCode, BenchError> {
    let catalogues = arguments.catalogues.clone().unwrap_or_else(|| PathBuf::from(CATALOGUES));
    if !catalogues.join("github.json").is_file() {
        return Err(BenchError::Usage(anyhow!(
            "{} has no catalogs; run this in the repository, or pass its {CATALOGUES} with --catalogues",
            catalogues.display()
        )));
    }
    let all = job::all();
    let count = all.len();
    let names: Vec<String> = arguments.job.iter().chain(&arguments.jobs).cloned().collect();
    let chosen = chosen(all, &names).map_err(BenchError::Usage)?;
    let mut world = World::new(catalogues);
    if arguments.after_use {
        eprintln!("doing all jobs once, to learn from it");
        world.use_before(&chosen).await.map_err(BenchError::Failed)?;
    }
    let mut figures = Figures { is_whole: chosen.len() == count, jobs: Vec::new() };
    for job in &chosen {
        eprintln!("doing {}", job.name);
        let ways = world.run(job).await.map_err(|error| BenchError::Failed(error.context(job.name)))?;
        if arguments.job.is_some() && !arguments.json {
            print!("{}", show::of(job, &ways));
        }
        figures.jobs.push(JobFigures::of(job, &ways));
    }
    world.close().await.map_err(BenchError::Failed)?;
    if let Some(file) = &arguments.svg {
        std::fs::write(file, picture::of(&figures))
            .map_err(|error| BenchError::Usage(anyhow!("{}: {error}", file.display())))?;
        eprintln!("wrote {}", file.display());
    }
    match (arguments.json, arguments.job.is_some()) {
        (true, _) => println!("{:#}", figures.json()),
        (false, true) => {}
        (false, false) => print!("{}", table::of(&figures)),
    }
    Ok(ExitCode::SUCCESS)
}

/// The jobs of these names in their own order; all without a name.
fn chosen(all: Vec<Job>, names: &[String]) -> anyhow::Result<Vec<Job>> {
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|job| job.name == name.as_str())) {
        let near = nearest(unknown, all.iter().map(|job| (job.name, job.name)), 3);
        let hint = match near.is_empty() {
            true => all.iter().map(|job| job.name).collect::<Vec<_>>().join(", "),
            false => format!("did you mean {}?", near.join(", ")),
        };
        return Err(anyhow!("unknown job `{unknown}`\nhint: {hint}"));
    }
    let is_wanted = |job: &Job| names.is_empty() || names.iter().any(|name| name == job.name);
    Ok(all.into_iter().filter(is_wanted).collect())
}
