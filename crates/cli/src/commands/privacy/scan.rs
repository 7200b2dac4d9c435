//! `gristmill privacy scan`: what would be recognized as personal data or a secret.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::Flags;
use gristmill_gateway::domain::format_bytes;
use gristmill_privacy::{Detector, Finding, Settings};
use serde_json::json;

use crate::arguments::ConfigFile;
use crate::commands::{Failure, Outcome};
use crate::table::{Column, Table};
use crate::terminal::{eprint_lines, one_line};
use crate::upstreams;

/// The whole file is in memory while it is scanned.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// How much is shown on each side of a finding.
const AROUND_CHARS: usize = 24;

/// More findings are counted and not shown; `--json` has them all.
const SHOWN_MAX: usize = 200;

#[derive(Args)]
pub struct ScanArguments {
    /// File to scan, or `-` for standard input
    file: PathBuf,

    /// Print one JSON document: kind, span, confidence and rule of each finding
    #[arg(long)]
    json: bool,

    /// Use the default settings, not those of your configuration
    #[arg(long, conflicts_with = "config")]
    no_config: bool,

    #[command(flatten)]
    config: ConfigFile,
}

pub fn scan(arguments: &ScanArguments) -> Outcome {
    let bytes = read(&arguments.file)?;
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned());
    let (settings, by) = settings(arguments)?;
    let detector = Detector::new(&settings).map_err(|error| Failure::Usage(anyhow!(error)))?;
    let findings = detector.scan(&text);
    if arguments.json {
        println!("{:#}", json!({ "bytes": text.len(), "settings": by, "findings": findings }));
        return Ok(ExitCode::SUCCESS);
    }
    eprint_lines(&format!("settings: {by}"));
    if findings.is_empty() {
        eprint_lines("no personal data or secrets found");
        return Ok(ExitCode::SUCCESS);
    }
    by_kind(&findings).print();
    println!();
    in_context(&text, &findings).print();
    if findings.len() > SHOWN_MAX {
        eprint_lines(&format!(
            "{} more findings not shown\nhint: --json lists all",
            findings.len() - SHOWN_MAX
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is looked for, and where that is said.
fn settings(arguments: &ScanArguments) -> Result<(Settings, String), Failure> {
    let by_default = || (Settings::default(), "the defaults".to_owned());
    if arguments.no_config {
        return Ok(by_default());
    }
    let flags = Flags { config: arguments.config.config.clone(), ..Flags::default() };
    let configured = upstreams::read_without_servers(&flags)?;
    let files: Vec<String> =
        configured.config.files.iter().map(|file| one_line(&file.path.display().to_string())).collect();
    match files.is_empty() {
        true => Ok(by_default()),
        false => Ok((configured.config.privacy.settings.detector, files.join(", "))),
    }
}

fn by_kind(findings: &[Finding]) -> Table {
    let mut counts: BTreeMap<&str, (usize, u8)> = BTreeMap::new();
    for finding in findings {
        let (count, surest) = counts.entry(finding.kind.name()).or_default();
        *count += 1;
        *surest = finding.confidence.max(*surest);
    }
    let mut table = Table::new([Column::left("KIND"), Column::right("COUNT"), Column::right("SUREST")]);
    for (kind, (count, surest)) in counts {
        table.row([one_line(kind), count.to_string(), format!("{surest}%")]);
    }
    table
}

fn in_context(text: &str, findings: &[Finding]) -> Table {
    let mut table = Table::new([
        Column::right("BYTES"),
        Column::left("KIND"),
        Column::left("RULE"),
        Column::right("SURE"),
        Column::cut("CONTEXT"),
    ]);
    for finding in findings.iter().take(SHOWN_MAX) {
        let span = &finding.span;
        table.row([
            format!("{}-{}", span.start, span.end),
            one_line(finding.kind.name()),
            finding.rule.to_owned(),
            format!("{}%", finding.confidence),
            one_line(&around(text, finding)),
        ]);
    }
    table
}

/// A finding in brackets, with a little of what stands beside it.
fn around(text: &str, finding: &Finding) -> String {
    let (before, rest) = text.split_at(finding.span.start);
    let (value, after) = rest.split_at(finding.span.len());
    let start = before.char_indices().rev().nth(AROUND_CHARS - 1).map_or(0, |(at, _)| at);
    let end = after.char_indices().nth(AROUND_CHARS).map_or(after.len(), |(at, _)| at);
    format!("{}[{value}]{}", &before[start..], &after[..end])
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let is_input = file.as_os_str() == "-";
    let named = if is_input { "standard input".to_owned() } else { file.display().to_string() };
    let cannot = |error: io::Error| Failure::Usage(anyhow!("can't read {named}: {error}"));
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX + 1;
    match is_input {
        true => io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(cannot)?,
        false => File::open(file).map_err(cannot)?.take(limit).read_to_end(&mut bytes).map_err(cannot)?,
    };
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::Usage(anyhow!(
            "{named} is larger than {}\nhint: pass a part of it: head -c {FILE_BYTES_MAX} FILE | gristmill privacy scan -",
            format_bytes(FILE_BYTES_MAX)
        )));
    }
    Ok(bytes)
}
