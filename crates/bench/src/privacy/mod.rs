//! `gristmill bench privacy`: how much of what others have labeled is found, what is found falsely, and how
//! fast; beside another detector, if its findings are given.

mod labeled;
mod plain;
mod score;

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use gristmill_privacy::{Detector, Settings};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::BenchError;
use crate::arguments::Bench;
use labeled::{Beside, Labeled, Place};
use plain::Plain;
use score::{Miss, Score, Scores};

/// Kinds that are told by their form, so that nearly all of them can be found.
const BY_FORM: [&str; 8] =
    ["credit_card", "crypto_address", "email", "iban", "ip_address", "phone", "secret", "ssn"];

/// What precision and recall of these should be.
const GOAL: f64 = 0.95;

/// Labeled texts are few: they're scanned again and again for this long.
const SPEED_SECONDS: f64 = 1.5;

pub fn measure(arguments: &Bench) -> Result<ExitCode, BenchError> {
    if arguments.data.is_none() && arguments.plain.is_empty() {
        return Err(BenchError::Usage(anyhow!(
            "pass labeled texts, plain ones or both: gristmill bench privacy --data DIR --plain FILE"
        )));
    }
    run(arguments).map_err(BenchError::Usage)
}

fn run(arguments: &Bench) -> anyhow::Result<ExitCode> {
    let detector = Detector::new(&Settings::default())?;
    let plain = plain::scan(&detector, &arguments.plain)?;
    let texts = arguments.data.as_deref().map(labeled::load).transpose()?.unwrap_or_default();
    let found: Vec<Vec<Place>> = texts.iter().map(|text| ours(&detector, &text.text)).collect();
    let (scores, misses) = scored(&texts, &found);
    let speed = if texts.is_empty() { None } else { Some(megabytes_per_second(&detector, &texts)) };
    let beside = arguments.beside.as_deref().map(|file| other(file, &texts)).transpose()?;
    if arguments.json {
        let mut facts = json!({
            "texts": texts.len(),
            "kinds": as_json(&scores),
            "mb_per_second": speed,
            "plain": plain.as_ref().map(Plain::json),
        });
        if let Some((name, scores, speed)) = &beside {
            facts["beside"] = json!({ "name": name, "kinds": as_json(scores), "mb_per_second": speed });
        }
        println!("{facts:#}");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(speed) = speed {
        println!("{} labeled texts", texts.len());
        print("gristmill", &scores, speed);
        if let Some((name, scores, others)) = &beside {
            print(name, scores, *others);
            println!("\ngristmill is {:.0} times as fast", speed / others);
        }
    }
    if let Some(plain) = &plain {
        plain.print(arguments.misses);
    }
    if arguments.misses {
        misses.iter().for_each(print_miss);
    }
    Ok(ExitCode::SUCCESS)
}

fn ours(detector: &Detector, text: &str) -> Vec<Place> {
    let findings = detector.scan(text).into_iter();
    findings.map(|found| Place { kind: found.kind.name().to_owned(), span: Some(found.span) }).collect()
}

fn scored<'t>(texts: &'t [Labeled], found: &'t [Vec<Place>]) -> (Scores, Vec<Miss<'t>>) {
    let mut scores = Scores::new();
    let misses = texts.iter().zip(found).flat_map(|(text, found)| score::add(&mut scores, text, found));
    let misses = misses.collect();
    (scores, misses)
}

/// What another detector found: its name, how good that is, and its speed.
fn other(file: &Path, texts: &[Labeled]) -> anyhow::Result<(String, Scores, f64)> {
    let read = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
    let beside: Beside = serde_json::from_str(&read)
        .with_context(|| format!("{} needs `name`, `seconds` and `findings`", file.display()))?;
    if beside.findings.len() != texts.len() {
        bail!(
            "{} has findings of {} texts; there are {}",
            file.display(),
            beside.findings.len(),
            texts.len()
        );
    }
    let found = texts.iter().zip(&beside.findings).map(|(text, spans)| labeled::places(&text.text, spans));
    let found: Vec<Vec<Place>> = found.collect::<anyhow::Result<_>>()?;
    let (scores, _) = scored(texts, &found);
    Ok((beside.name, scores, megabytes(texts) / beside.seconds))
}

/// By the CPU time of this thread: others may share the machine.
fn megabytes_per_second(detector: &Detector, texts: &[Labeled]) -> f64 {
    let began = cpu_seconds();
    let mut rounds = 0;
    while cpu_seconds() - began < SPEED_SECONDS {
        texts.iter().for_each(|text| drop(black_box(detector.scan(black_box(&text.text)))));
        rounds += 1;
    }
    megabytes(texts) * f64::from(rounds) / (cpu_seconds() - began)
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn megabytes(texts: &[Labeled]) -> f64 {
    texts.iter().map(|text| text.text.len()).sum::<usize>() as f64 / 1e6
}

fn print(name: &str, scores: &Scores, speed: f64) {
    println!("\n{name}: {speed:.2} MB/s");
    println!("  {:<16} {:>7} {:>7} {:>10} {:>8}", "", "labels", "found", "precision", "recall");
    for (kind, score) in scores {
        let (precision, recall) = (percent(score.precision()), percent(score.recall()));
        println!(
            "  {kind:<16} {:>7} {:>7} {precision:>10} {recall:>8}  {}",
            score.labels,
            score.found,
            verdict(kind, score)
        );
    }
}

fn verdict(kind: &str, score: &Score) -> &'static str {
    let is_kept = |share: Option<f64>| share.is_none_or(|share| share >= GOAL);
    match (BY_FORM.contains(&kind), is_kept(score.precision()) && is_kept(score.recall())) {
        (false, _) => "",
        (true, true) => "at least 95%: kept",
        (true, false) => "at least 95%: MISSED",
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1}%", share * 100.0))
}

fn print_miss(miss: &Miss<'_>) {
    let what = if miss.is_false_alarm { "false alarm" } else { "not found" };
    println!("\n{what}: {} {:?}\n  {} in {:?}", miss.kind, miss.value, miss.source, miss.text);
}

fn as_json(scores: &Scores) -> Value {
    let one = |(kind, score): (&String, &Score)| {
        json!({
            "kind": kind,
            "labels": score.labels,
            "met": score.met,
            "found": score.found,
            "right": score.right,
            "precision": score.precision(),
            "recall": score.recall(),
        })
    };
    scores.iter().map(one).collect()
}
