//! `gristmill shape`: any file within a budget of tokens, as an answer would show it.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_gateway::domain::shape::{Shaped, Strategy, shape_json};
use gristmill_gateway::domain::{format_bytes, grouped};
use gristmill_gateway::tokens;
use serde_json::json;

use super::{Failure, Outcome};
use crate::terminal::{Printable, eprint_lines, one_line};

/// The whole file is in memory while it is shaped.
const FILE_BYTES_MAX: u64 = 1 << 30;

#[derive(Args)]
pub struct ShapeArguments {
    /// File to condense (JSON or text), or `-` for standard input
    pub file: PathBuf,

    /// Token budget (o200k)
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub max_tokens: usize,

    /// How to condense: auto, summarize, sample, head_tail, schema, table, text or truncate
    #[arg(long, value_name = "STRATEGY", default_value_t = Strategy::Auto)]
    pub strategy: Strategy,

    /// Print one JSON document: the value, its text and what was left out
    #[arg(long)]
    pub json: bool,
}

pub fn shape(arguments: ShapeArguments) -> Outcome {
    let bytes = read(&arguments.file)?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(wrong) => {
            eprint_lines("note: not all of it is UTF-8; invalid bytes are shown as U+FFFD");
            String::from_utf8_lossy(wrong.as_bytes()).into_owned()
        }
    };
    let shaped = shape_json(&text, arguments.strategy, arguments.max_tokens, &tokens::count);
    let (whole_tokens, is_estimated) = tokens::count_bounded(&text);
    if arguments.json {
        println!("{:#}", as_json(&shaped, &text, whole_tokens, is_estimated));
        return Ok(ExitCode::SUCCESS);
    }
    match io::stdout().is_terminal() {
        // A file must not drive the terminal of the person who looks at it.
        true => println!("{}", Printable::all(&shaped.text)),
        false => println!("{}", shaped.text),
    }
    if text.is_empty() {
        eprint_lines("the input is empty");
        return Ok(ExitCode::SUCCESS);
    }
    let about = if is_estimated { "about " } else { "" };
    let size = format_bytes(text.len() as u64);
    let whole = format!("{about}{} tokens ({size})", grouped(whole_tokens as u64));
    eprint_lines(&match shaped.is_whole {
        // Laid out anew, a whole value may take a few tokens more than its text.
        true => format!("all of {whole}"),
        false => format!("{} of {whole}", grouped(shaped.tokens as u64)),
    });
    for line in &shaped.left_out {
        eprint_lines(&format!("left out: {}", one_line(line)));
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(shaped: &Shaped, text: &str, whole_tokens: usize, is_estimated: bool) -> serde_json::Value {
    json!({
        "value": shaped.value,
        "text": shaped.text,
        "tokens": shaped.tokens,
        "is_whole": shaped.is_whole,
        "left_out": shaped.left_out,
        "whole": { "tokens": whole_tokens, "tokens_are_estimated": is_estimated, "bytes": text.len() },
    })
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let is_input = file.as_os_str() == "-";
    let named = if is_input { "standard input".to_owned() } else { file.display().to_string() };
    let cannot = |error: io::Error| Failure::Usage(anyhow!("can't read {named}: {error}"));
    let bytes = match is_input {
        true => read_at_most(io::stdin().lock()).map_err(cannot)?,
        false => {
            let file = File::open(file).map_err(cannot)?;
            // What has a size need not be read to know that it is too large.
            let bytes = file.metadata().map_err(cannot)?.len();
            if bytes > FILE_BYTES_MAX { None } else { read_at_most(file).map_err(cannot)? }
        }
    };
    bytes.ok_or_else(|| {
        Failure::Usage(anyhow!(
            "{named} is larger than {}\nhint: pass a part of it: head -c {FILE_BYTES_MAX} FILE | gristmill shape -",
            format_bytes(FILE_BYTES_MAX)
        ))
    })
}

/// All that comes; none if that is too much, as of something without an end.
fn read_at_most(from: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= FILE_BYTES_MAX).then_some(bytes))
}
