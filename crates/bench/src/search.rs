//! `gristmill bench search`: how often the right tool is found, and how fast.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use gristmill_gateway::domain::catalogue::{Catalogue, ServerOffer};
use gristmill_gateway::domain::search::recall::{Measured, Queries, measure as measure_recall};
use gristmill_gateway::domain::search::{Index, Method};
use serde_json::{Value, json};

use super::catalogues;
use crate::BenchError;
use crate::arguments::Bench;

/// The goal is for this many.
const MANY_TOOLS: usize = 10_000;

const BUILDS: usize = 7;

/// Looked for if no file is named.
const QUERIES: &str = "benches/search/queries.json";

pub fn measure(arguments: Bench) -> Result<ExitCode, BenchError> {
    let folder = arguments.catalogues.ok_or_else(|| {
        BenchError::Usage(anyhow!(
            "pass a folder of catalogs: gristmill bench search --catalogues DIR [--queries FILE]"
        ))
    })?;
    let queries = arguments.queries.unwrap_or_else(|| QUERIES.into());
    run(&folder, &queries, arguments.json).map_err(BenchError::Usage)
}

fn run(folder: &std::path::Path, queries: &std::path::Path, json: bool) -> anyhow::Result<ExitCode> {
    let offers = catalogues::load(folder)?;
    let text = std::fs::read_to_string(queries)
        .with_context(|| format!("can't read the queries {}; pass them with --queries", queries.display()))?;
    let queries = Queries::parse(&text)?;
    let catalogue = Arc::new(Catalogue::new(offers.clone()));
    let mut builds: Vec<Duration> = (0..BUILDS).map(|_| build_time(&catalogue)).collect();
    builds.sort();
    let index = Index::new(Arc::clone(&catalogue));
    let missing = queries.missing_from(&index);
    if !missing.is_empty() {
        bail!("the queries ask for tools that aren't in the catalogs: {}", missing.join(", "));
    }
    let began = Instant::now();
    let now = || began.elapsed();
    let ours = measure_recall(&index, &queries, &now);
    let plain = Index::with_method(Arc::clone(&catalogue), Method::Plain);
    let plain = measure_recall(&plain, &queries, &now);
    let many = many_tools(&offers, &queries);
    let facts = json!({
        "servers": catalogue.servers.len(),
        "tools": catalogue.tool_count(),
        "index_build_ms": millis(builds[BUILDS / 2]),
        "search": as_json(&ours),
        "plain_bm25": as_json(&plain),
        "many_tools": { "tools": MANY_TOOLS, "p50_ms": millis(many.time(0.5)), "p95_ms": millis(many.time(0.95)) },
    });
    if json {
        println!("{facts:#}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} servers, {} tools", catalogue.servers.len(), catalogue.tool_count());
    println!("index built in {:.1} ms (median of {BUILDS})", millis(builds[BUILDS / 2]));
    print("search", &ours);
    print("plain BM25, to compare", &plain);
    println!(
        "\n{MANY_TOOLS} tools: p50 {:.3} ms, p95 {:.3} ms (goal: at most 2 ms)",
        millis(many.time(0.5)),
        millis(many.time(0.95))
    );
    Ok(ExitCode::SUCCESS)
}

/// The time of a search over many more tools than there are catalogues for.
pub fn many_tools(offers: &[ServerOffer], queries: &Queries) -> Measured {
    let many = Arc::new(Catalogue::new(catalogues::repeated(offers, MANY_TOOLS)));
    let index = Index::new(many);
    let began = Instant::now();
    measure_recall(&index, queries, &|| began.elapsed())
}

fn build_time(catalogue: &Arc<Catalogue>) -> Duration {
    let began = Instant::now();
    let index = Index::new(Arc::clone(catalogue));
    let time = began.elapsed();
    drop(index);
    time
}

fn print(title: &str, measured: &Measured) {
    let (p50, p95) = (millis(measured.time(0.5)), millis(measured.time(0.95)));
    println!("\n{title}: p50 {p50:.3} ms, p95 {p95:.3} ms");
    println!("  {:<20} {:>7} {:>9} {:>9} {:>10}", "", "queries", "recall@1", "recall@5", "recall@10");
    for (name, recall) in measured.rows() {
        println!(
            "  {name:<20} {:>7} {:>8.1}% {:>8.1}% {:>9.1}%",
            recall.queries,
            recall.percent(recall.at_1),
            recall.percent(recall.at_5),
            recall.percent(recall.at_10)
        );
    }
}

fn as_json(measured: &Measured) -> Value {
    let rows = measured.rows().map(|(name, recall)| {
        json!({
            "set": name,
            "queries": recall.queries,
            "recall_at_1": recall.percent(recall.at_1),
            "recall_at_5": recall.percent(recall.at_5),
            "recall_at_10": recall.percent(recall.at_10),
        })
    });
    json!({ "p50_ms": millis(measured.time(0.5)), "p95_ms": millis(measured.time(0.95)), "recall": rows.to_vec() })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
