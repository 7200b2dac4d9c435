//! How well and how fast search works: `search_recall CATALOGUES QUERIES [--misses] [--answers]`.
//!
//! CATALOGUES is a folder of files with `server` and `tools`, QUERIES is `benches/search/queries.json`.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_domain::catalogue::{Catalogue, Server, ServerOffer, Tool, ToolDefinition};
use gristmill_domain::search::recall::{Measured, Queries, Set, measure};
use gristmill_domain::search::{Index, Method, Query, render};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Dump {
    server: String,
    #[serde(default)]
    version: Option<String>,
    tools: Vec<Box<RawValue>>,
}

const MANY_TOOLS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, queries, options @ ..] = arguments.as_slice() else {
        return Err("usage: search_recall CATALOGUES QUERIES [--misses] [--answers]".into());
    };
    let offers = load(Path::new(folder))?;
    let queries = Queries::parse(&std::fs::read_to_string(queries)?)?;
    let began = Instant::now();
    let now = || began.elapsed();

    let catalogue = Arc::new(Catalogue::new(offers.clone()));
    println!("{} servers, {} tools", catalogue.servers.len(), catalogue.tool_count());
    let index = Index::new(Arc::clone(&catalogue));
    let missing = queries.missing_from(&index);
    if !missing.is_empty() {
        return Err(format!("not in the catalogues: {}", missing.join(", ")).into());
    }
    let mut builds: Vec<Duration> = (0..7).map(|_| build_time(&catalogue)).collect();
    builds.sort();
    let (best, median) = (millis(builds[0]), millis(builds[builds.len() / 2]));
    println!("index built in {median:.1} ms (median of {}; best {best:.1} ms)", builds.len());

    print_measured("search", &measure(&index, &queries, &now));
    let plain = Index::with_method(Arc::clone(&catalogue), Method::Plain);
    print_measured("plain BM25, to compare", &measure(&plain, &queries, &now));

    let many = Arc::new(Catalogue::new(repeated(&offers)));
    let index_of_many = Index::new(Arc::clone(&many));
    let measured = measure(&index_of_many, &queries, &now);
    let (p50, p95) = (millis(measured.time(0.5)), millis(measured.time(0.95)));
    println!("\n{} tools: p50 {p50:.3} ms, p95 {p95:.3} ms", many.tool_count());

    if options.iter().any(|option| option == "--answers") {
        for case in queries.cases().iter().filter(|case| case.set == Set::Dev) {
            let query = Query { limit: 3, ..Query::new(case.query.as_str()) };
            let signature = |_: &Server, tool: &Tool| format!("{}(…)", tool.identifier);
            let answer = index.search(&query, &signature)?;
            println!("\n> {}\n{}", case.query, render(&answer, 500, &|text| text.len() / 4));
        }
    }
    if options.iter().any(|option| option == "--misses") {
        for case in queries.cases().iter().filter(|case| case.set == Set::Dev) {
            let place = case.place(&index);
            if place != Some(0) {
                println!("{place:?} {} -> {}", case.query, case.expect.join(" "));
            }
        }
    }
    Ok(())
}

fn load(folder: &Path) -> Result<Vec<ServerOffer>, Box<dyn Error>> {
    let mut offers = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let dump: Dump = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        let tools = dump.tools.iter().map(|raw| ToolDefinition::parse(raw).map(Arc::new));
        offers.push(ServerOffer {
            name: dump.server,
            title: None,
            version: dump.version,
            description: None,
            category: None,
            tools: tools.collect::<Result<_, _>>()?,
        });
    }
    Ok(offers)
}

/// The same servers again and again under new names, their tools renamed, up to many.
fn repeated(offers: &[ServerOffer]) -> Vec<ServerOffer> {
    let mut left = MANY_TOOLS;
    let mut all = Vec::new();
    for round in 0.. {
        for offer in offers {
            if left == 0 {
                return all;
            }
            let mut again = offer.clone();
            again.name = format!("{}-{round}", offer.name);
            again.tools = offer.tools.iter().take(left).map(|tool| renamed(tool, round)).collect();
            left -= again.tools.len();
            all.push(again);
        }
    }
    all
}

fn renamed(tool: &Arc<ToolDefinition>, round: usize) -> Arc<ToolDefinition> {
    let mut tool = ToolDefinition::clone(tool);
    tool.name = format!("{}_{round}", tool.name);
    Arc::new(tool)
}

fn build_time(catalogue: &Arc<Catalogue>) -> Duration {
    let began = Instant::now();
    let index = Index::new(Arc::clone(catalogue));
    let time = began.elapsed();
    drop(index);
    time
}

fn print_measured(title: &str, measured: &Measured) {
    println!(
        "\n{title}: p50 {:.3} ms, p95 {:.3} ms",
        millis(measured.time(0.5)),
        millis(measured.time(0.95))
    );
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

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
