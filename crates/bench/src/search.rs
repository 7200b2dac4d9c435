//! `gristmill bench search`: how often the right tool is found, by what, and how fast.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use gristmill_encoder::{Definition, Encoder};
use gristmill_gateway::domain::catalogue::{Catalogue, Server, ServerOffer, Tool};
use gristmill_gateway::domain::search::recall::{Case, Measured, Queries, Recall, measure as measure_recall};
use gristmill_gateway::domain::search::{Index, Method, Nearness, Part, meaning_parts, meaning_query};
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

/// The encoder with what it makes of a catalogue.
struct Meaning {
    encoder: Encoder,
    vectors: Vec<Definition>,
    /// For each tool.
    definition_ms: f64,
}

impl Meaning {
    /// `None` in a build without an encoder.
    fn of(catalogue: &Arc<Catalogue>, parts: impl Fn(&Server, &Tool) -> [String; 2]) -> Option<Self> {
        let encoder = Encoder::embedded()?;
        let index = Index::new(Arc::clone(catalogue));
        let texts: Vec<[String; 2]> = index.tools().map(|(server, tool)| parts(server, tool)).collect();
        eprintln!("encoding {} definitions", texts.len());
        let began = Instant::now();
        let vectors: Vec<Definition> = texts.iter().map(|parts| encoder.encode_definition(parts)).collect();
        let definition_ms = millis(began.elapsed()) / vectors.len().max(1) as f64;
        Some(Self { encoder, vectors, definition_ms })
    }

    fn cosines(&self, query: &str) -> Vec<f32> {
        let asked = self.encoder.encode_query(&meaning_query(query));
        self.vectors.iter().map(|definition| asked.cosine(definition)).collect()
    }

    fn nearness(&self, index: &Index, query: &str) -> Option<Nearness> {
        let asked = self.encoder.encode_query(&meaning_query(query));
        let cosines = self.vectors.iter().map(|definition| asked.cosine(definition)).collect();
        let nearness = Nearness::new(index, cosines)?;
        Some(nearness.with_closer_look(|place| asked.cosine_by_pieces(&self.vectors[place])))
    }

    /// The queries asked by meaning alone.
    fn alone(&self, index: &Index, queries: &Queries) -> Recall {
        let names: Vec<String> = index
            .tools()
            .map(|(server, tool)| format!("{}.{}", server.offer.name, tool.definition.name))
            .collect();
        let place = |case: &Case| {
            let cosines = self.cosines(&case.query);
            let is_right = |name: &String| case.expect.contains(name);
            let right = cosines.iter().zip(&names).filter(|(_, name)| is_right(name));
            let best = right.map(|(cosine, _)| *cosine).fold(f32::MIN, f32::max);
            cosines.iter().filter(|cosine| **cosine > best).count()
        };
        Recall::of(queries.judged().map(|case| Some(place(case))))
    }
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
    let meaning = Meaning::of(&catalogue, |server, tool| meaning_parts(Some(server), tool));
    let by_words = asked(&index, &queries, None);
    let by_both = meaning.as_ref().map(|meaning| asked(&index, &queries, Some(meaning)));
    let plain = Index::with_method(Arc::clone(&catalogue), Method::Plain);
    let plain = asked(&plain, &queries, None);
    let parts = parts(&catalogue, &queries, meaning.as_ref());
    let many = many_tools(&offers, &queries);
    let facts = json!({
        "servers": catalogue.servers.len(),
        "tools": catalogue.tool_count(),
        "index_build_ms": millis(builds[BUILDS / 2]),
        "encoder": meaning.as_ref().map(|meaning| json!({ "definition_ms": meaning.definition_ms })),
        "search": as_json(by_both.as_ref().unwrap_or(&by_words)),
        "by_words": as_json(&by_words),
        "plain_bm25": as_json(&plain),
        "parts": parts.iter().map(|(name, recall)| recall_json(name, *recall)).collect::<Vec<_>>(),
        "many_tools": { "tools": MANY_TOOLS, "p50_ms": millis(many.time(0.5)), "p95_ms": millis(many.time(0.95)) },
    });
    if json {
        println!("{facts:#}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} servers, {} tools", catalogue.servers.len(), catalogue.tool_count());
    println!("index built in {:.1} ms (median of {BUILDS})", millis(builds[BUILDS / 2]));
    match (&meaning, &by_both) {
        (Some(meaning), Some(by_both)) => {
            println!("a definition encoded in {:.1} ms", meaning.definition_ms);
            print("words and meaning: what users get", by_both);
            print("words alone: until every tool is encoded", &by_words);
        }
        _ => {
            println!("this build has no encoder: search is by words");
            print("words alone: what users get", &by_words);
        }
    }
    print("plain BM25, to compare", &plain);
    let judged = if queries.held_out().next().is_some() { "held out" } else { "all" };
    println!("\n{judged}, one part taken away");
    print_rows(parts.iter().map(|(name, recall)| (name.as_str(), *recall)));
    println!(
        "\n{MANY_TOOLS} tools, words alone: p50 {:.3} ms, p95 {:.3} ms (goal: at most 2 ms)",
        millis(many.time(0.5)),
        millis(many.time(0.95))
    );
    Ok(ExitCode::SUCCESS)
}

/// Every query once, with the time that its own vector takes.
fn asked(index: &Index, queries: &Queries, meaning: Option<&Meaning>) -> Measured {
    let began = Instant::now();
    let nearness = |query: &str| meaning?.nearness(index, query);
    measure_recall(index, queries, &nearness, &|| began.elapsed())
}

/// What each part is good for, by the queries that were held out if there are any.
fn parts(catalogue: &Arc<Catalogue>, queries: &Queries, meaning: Option<&Meaning>) -> Vec<(String, Recall)> {
    let with = |method: Method, meaning: Option<&Meaning>| {
        asked(&Index::with_method(Arc::clone(catalogue), method), queries, meaning).judged()
    };
    let mut rows = vec![("everything".to_owned(), with(Method::Full, meaning))];
    for (part, name) in Part::ALL {
        rows.push((format!("without {name}"), with(Method::Without(part), meaning)));
    }
    if let Some(meaning) = meaning {
        let without_servers = Meaning::of(catalogue, |_, tool| meaning_parts(None, tool));
        let row = with(Method::Full, without_servers.as_ref());
        rows.push(("without the server in what is encoded".to_owned(), row));
        let index = Index::new(Arc::clone(catalogue));
        let by_whole = |query: &str| Nearness::new(&index, meaning.cosines(query));
        let row = measure_recall(&index, queries, &by_whole, &|| Duration::ZERO).judged();
        rows.push(("without a closer look at the nearest".to_owned(), row));
        rows.push(("without meaning".to_owned(), with(Method::Full, None)));
        rows.push(("plain BM25 and meaning".to_owned(), with(Method::Plain, Some(meaning))));
        rows.push(("meaning alone".to_owned(), meaning.alone(&Index::new(Arc::clone(catalogue)), queries)));
    }
    rows.push(("plain BM25".to_owned(), with(Method::Plain, None)));
    rows
}

/// The time of a search over many more tools than there are catalogues for.
pub fn many_tools(offers: &[ServerOffer], queries: &Queries) -> Measured {
    let many = Arc::new(Catalogue::new(catalogues::repeated(offers, MANY_TOOLS)));
    asked(&Index::new(many), queries, None)
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
    print_rows(measured.rows().into_iter());
}

fn print_rows<'a>(rows: impl Iterator<Item = (&'a str, Recall)>) {
    println!("  {:<40} {:>7} {:>9} {:>9} {:>10}", "", "queries", "recall@1", "recall@5", "recall@10");
    for (name, recall) in rows {
        println!(
            "  {name:<40} {:>7} {:>8.1}% {:>8.1}% {:>9.1}%",
            recall.queries,
            recall.percent(recall.at_1),
            recall.percent(recall.at_5),
            recall.percent(recall.at_10)
        );
    }
}

fn as_json(measured: &Measured) -> Value {
    let rows = measured.rows().map(|(name, recall)| recall_json(name, recall));
    json!({ "p50_ms": millis(measured.time(0.5)), "p95_ms": millis(measured.time(0.95)), "recall": rows.to_vec() })
}

fn recall_json(name: &str, recall: Recall) -> Value {
    json!({
        "set": name,
        "queries": recall.queries,
        "recall_at_1": recall.percent(recall.at_1),
        "recall_at_5": recall.percent(recall.at_5),
        "recall_at_10": recall.percent(recall.at_10),
    })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
