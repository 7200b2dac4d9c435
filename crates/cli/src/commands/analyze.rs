//! `gristmill analyze`: steps over a file, in the same jailed worker that serves agents.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use gristmill_gateway::analysis::{
    AnalysisData, AnalysisFailure, AnalysisInput, AnalysisOutcome, AnalysisRequest, format_of_path,
};
use gristmill_gateway::domain::shape::{Strategy, shape_json};
use gristmill_gateway::domain::{counted_grouped, format_bytes, visible_json};
use gristmill_gateway::{Gateway, PoolSettings, WorkerCommand, tokens};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::row_format::RowFormat;
use super::table_text;
use super::{Failure, Outcome};
use crate::arguments::{ConfigFile, LimitArguments};
use crate::given_json::given_json;
use crate::terminal::{self, Printable, eprint_lines};
use crate::{exit_codes, upstreams};

/// Steps are written by hand or by a model; what is larger is data in the wrong place.
const STEPS_BYTES_MAX: u64 = 1024 * 1024;
/// What is piped in is kept in a file first, which must not fill the disk.
const PIPED_BYTES_MAX: u64 = 8 << 30;
/// Rows that a terminal is shown.
const ROWS_SHOWN: usize = 40;

#[derive(Args)]
pub struct AnalyzeArguments {
    /// File to analyze (JSON, JSON Lines, CSV or Parquet), or `-` for standard input
    pub file: PathBuf,

    /// Steps to run: a JSON list, or `@FILE` to read it from a file; see docs/analysis.md
    #[arg(long, value_name = "JSON|@FILE")]
    pub steps: String,

    /// Another table, under the name that steps use; repeatable
    #[arg(long = "input", value_name = "NAME=FILE")]
    pub inputs: Vec<String>,

    /// Format of the input: json, jsonl, csv or parquet [default: from its name and content]
    #[arg(long, alias = "input-format")]
    pub format: Option<String>,

    /// Dotted path to the rows inside JSON, such as result.items
    #[arg(long, value_name = "PATH")]
    pub data_field: Option<String>,

    /// Condense the result to this many tokens, as a model would see it
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,

    /// Print one JSON document: rows, columns, notes and the full result
    #[arg(long)]
    pub json: bool,

    /// Write the full result to a file, in the format of its extension: .csv, .json, .jsonl or .ndjson
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "max_tokens"])]
    pub output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(long, requires = "output")]
    pub force: bool,

    /// Format of the output, whatever the file's extension
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "max_tokens"])]
    pub output_format: Option<RowFormat>,

    #[command(flatten)]
    pub config: ConfigFile,

    #[command(flatten)]
    pub limits: LimitArguments,
}

pub async fn analyze(arguments: AnalyzeArguments) -> Outcome {
    let output_format = output_format(&arguments).map_err(Failure::Usage)?;
    if let Some(path) = arguments.output.as_ref().filter(|path| path.is_file() && !arguments.force) {
        let shown = path.display();
        return Err(Failure::Usage(anyhow!("{shown} already exists\nhint: pass --force to overwrite it")));
    }
    // Nothing here reaches a server.
    let (_, limits) = upstreams::read_with_limits(true, &arguments.config, &arguments.limits)?;
    let request = request_of(&arguments.steps, arguments.data_field.as_deref()).map_err(Failure::Usage)?;
    let inputs = inputs_of(&arguments).map_err(Failure::Usage)?;
    let worker = WorkerCommand::this_executable().map_err(|error| Failure::Internal(error.into()))?;
    // One analysis is all there will be: no worker is kept waiting behind it.
    let pool = PoolSettings { waiting: 0, ..PoolSettings::default() };
    let gateway = Gateway::builder(worker).limits(limits).pool(pool).build().await;
    let gateway = gateway.map_err(|error| Failure::Internal(error.into()))?;
    let output = gateway.throw_away_file().map_err(|error| Failure::Internal(error.into()))?;
    let outcome = gateway.analyze(AnalysisRequest { request, inputs, limits: None, output }).await;
    gateway.shutdown().await;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failure) => return Ok(print_failure(&failure, arguments.json)),
    };
    if outcome.rows.is_none() && output_format.is_some_and(|format| !format.takes_reports()) {
        return Err(Failure::Usage(anyhow!(
            "the last step returns a report, which has no rows for CSV\nhint: write it to a .json file"
        )));
    }
    match show(&arguments, output_format, outcome) {
        Ok(()) => Ok(exit_codes::OK),
        // Whoever read our output has seen enough.
        Err(error) if is_closed(&error) => Ok(exit_codes::OK),
        Err(error) => Err(Failure::Internal(error)),
    }
}

/// The format to write in, if it was asked for or a file is written.
fn output_format(arguments: &AnalyzeArguments) -> anyhow::Result<Option<RowFormat>> {
    match (arguments.output_format, &arguments.output) {
        (Some(format), _) => Ok(Some(format)),
        (None, Some(path)) => RowFormat::of_path(path).map(Some),
        (None, None) => Ok(None),
    }
}

fn is_closed(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// What the engine is asked: a list of steps, one step, or a whole request.
fn request_of(steps: &str, data_field: Option<&str>) -> anyhow::Result<String> {
    let text = match steps.strip_prefix('@') {
        Some(path) => {
            let mut text = String::new();
            let file = File::open(path).with_context(|| format!("can't open the steps in {path}"))?;
            file.take(STEPS_BYTES_MAX + 1)
                .read_to_string(&mut text)
                .with_context(|| format!("can't read the steps in {path}"))?;
            text
        }
        None => steps.to_owned(),
    };
    if text.len() as u64 > STEPS_BYTES_MAX {
        bail!("the steps are larger than 1 MB; put data in files and pass them with --input");
    }
    let given: Value = given_json(&text).map_err(|error| {
        anyhow!("the steps aren't valid JSON: {error:#}\nhint: example: --steps '[{{\"describe\": {{}}}}]'")
    })?;
    let mut request = match given {
        Value::Object(request) if request.contains_key("steps") || request.contains_key("analysis_type") => {
            Value::Object(request)
        }
        Value::Object(step) => json!({"steps": [step]}),
        steps => json!({"steps": steps}),
    };
    if let Some(path) = data_field {
        request["data_field"] = json!(path);
    }
    Ok(request.to_string())
}

fn inputs_of(arguments: &AnalyzeArguments) -> anyhow::Result<Vec<AnalysisInput>> {
    let first = input("data".to_owned(), &arguments.file, arguments.format.clone())?;
    let mut inputs = vec![first];
    for given in &arguments.inputs {
        let (name, path) = given.split_once('=').ok_or_else(|| {
            anyhow!("`--input {given}` must be NAME=FILE, such as --input cities=cities.csv")
        })?;
        inputs.push(input(name.trim().to_owned(), Path::new(path), None)?);
    }
    Ok(inputs)
}

fn input(name: String, path: &Path, format: Option<String>) -> anyhow::Result<AnalysisInput> {
    let shown = path.display();
    let file = if path.as_os_str() == "-" {
        piped()?
    } else {
        let file = File::open(path).with_context(|| format!("can't open {shown}"))?;
        let metadata = file.metadata().with_context(|| format!("can't read {shown}"))?;
        if metadata.is_dir() {
            bail!("{shown} is a folder, not a file");
        }
        if !metadata.is_file() {
            bail!("{shown} isn't a regular file; pipe it in and pass `-` instead");
        }
        file
    };
    let format = format.or_else(|| path.to_str().and_then(format_of_path).map(str::to_owned));
    Ok(AnalysisInput { name, format, data: AnalysisData::File(file) })
}

/// Standard input as a file: the worker reads files only.
fn piped() -> anyhow::Result<File> {
    if io::stdin().is_terminal() {
        eprintln!("reading standard input; press Ctrl-D to end it");
    }
    let path = std::env::temp_dir().join(format!("gristmill-input-{}", std::process::id()));
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    // What a worker is given it cannot write through.
    let file = File::open(&path);
    std::fs::remove_file(&path)?;
    let copied = io::copy(&mut io::stdin().lock().take(PIPED_BYTES_MAX + 1), &mut written)
        .context("can't read standard input")?;
    if copied > PIPED_BYTES_MAX {
        bail!("standard input is larger than 8 GB; pass a file instead");
    }
    Ok(file?)
}

fn print_failure(failure: &AnalysisFailure, as_json: bool) -> ExitCode {
    let (code, message) = (failure.code, &failure.message);
    if as_json {
        let (hint, step) = (&failure.hint, failure.step);
        let error = json!({"code": code.as_str(), "message": message, "hint": hint, "step": step});
        terminal::print_json(&json!({"success": false, "error": error}));
    } else {
        let step = failure.step.filter(|_| !message.starts_with("step "));
        let step = step.map(|step| format!(" step {step}")).unwrap_or_default();
        eprint_lines(&Printable::all(&format!("error[{code}]{step}: {message}")));
        if let Some(hint) = &failure.hint {
            eprint_lines(&Printable::all(&format!("hint: {hint}")));
        }
    }
    ExitCode::from(exit_codes::number_of(code))
}

fn show(
    arguments: &AnalyzeArguments,
    output_format: Option<RowFormat>,
    outcome: AnalysisOutcome,
) -> anyhow::Result<()> {
    let AnalysisOutcome { rows, columns, notes, mut output, .. } = outcome;
    output.rewind()?;
    if let Some(format) = output_format {
        match &arguments.output {
            Some(path) => write_file(path, format, rows, &columns, &mut output)?,
            None => print_rows(format, rows, &columns, &mut output)?,
        }
        print_notes(&notes);
        return Ok(());
    }
    if arguments.json {
        return print_json(arguments.max_tokens, rows, &columns, &notes, output);
    }
    let mut text = String::new();
    output.read_to_string(&mut text)?;
    let terminal = io::stdout().is_terminal();
    let shown = match (arguments.max_tokens, rows) {
        (Some(tokens_max), _) => {
            let shaped = shape_json(&text, Strategy::Auto, tokens_max, &tokens::count);
            shaped.left_out.iter().for_each(|left_out| eprint_lines(&format!("left out: {left_out}")));
            format!("{}\n", shaped.text)
        }
        (None, None) => format!("{:#}\n", serde_json::from_str::<Value>(&text)?),
        (None, Some(rows)) => {
            let lines: Vec<&RawValue> = serde_json::from_str(&text)?;
            match terminal {
                true => {
                    table_text::table(&columns, lines.iter().take(ROWS_SHOWN).map(|line| line.get()), rows)
                }
                false => lines.iter().flat_map(|line| [line.get(), "\n"]).collect(),
            }
        }
    };
    let shown = if terminal { Printable::all(&shown) } else { shown };
    let mut stdout = io::stdout().lock();
    stdout.write_all(shown.as_bytes())?;
    stdout.flush()?;
    print_notes(&notes);
    Ok(())
}

fn write_file(
    path: &Path,
    format: RowFormat,
    rows: Option<u64>,
    columns: &[String],
    result: &mut File,
) -> anyhow::Result<()> {
    let shown = path.display();
    let cannot = || format!("can't write {shown}");
    let is_device = path.exists() && !path.is_file();
    let size = if is_device {
        let file = OpenOptions::new().write(true).open(path).with_context(cannot)?;
        write_whole(file, format, rows.is_some(), columns, result).with_context(cannot)?
    } else {
        // Beside it first: what was there stays until all of it is written.
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.part", std::process::id()));
        let file = File::create_new(&beside).with_context(cannot)?;
        write_whole(file, format, rows.is_some(), columns, result)
            .and_then(|size| Ok(std::fs::rename(&beside, path).map(|()| size)?))
            .inspect_err(|_| drop(std::fs::remove_file(&beside)))
            .with_context(cannot)?
    };
    let size = format_bytes(size);
    eprint_lines(&match rows {
        Some(rows) => {
            let rows = counted_grouped(usize::try_from(rows).unwrap_or(usize::MAX), "row");
            format!("wrote {rows} to {shown} ({format}, {size})")
        }
        None => format!("wrote the report to {shown} ({format}, {size})"),
    });
    Ok(())
}

/// How many bytes the file has then.
fn write_whole(
    file: File,
    format: RowFormat,
    is_rows: bool,
    columns: &[String],
    result: &mut File,
) -> anyhow::Result<u64> {
    let mut file = io::BufWriter::new(file);
    format.write(columns, is_rows, result, &mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(file.metadata()?.len())
}

fn print_rows(
    format: RowFormat,
    rows: Option<u64>,
    columns: &[String],
    result: &mut File,
) -> anyhow::Result<()> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    if !io::stdout().is_terminal() {
        return format.write(columns, rows.is_some(), result, &mut stdout);
    }
    let mut bytes = Vec::new();
    format.write(columns, rows.is_some(), result, &mut bytes)?;
    writeln!(stdout, "{}", Printable::all(String::from_utf8_lossy(&bytes).trim_end()))?;
    stdout.flush()?;
    Ok(())
}

fn print_notes(notes: &[String]) {
    notes.iter().for_each(|note| eprint_lines(&Printable::all(&format!("note: {note}"))));
}

/// One document. A whole result goes from the file as it is: it may be large.
fn print_json(
    max_tokens: Option<usize>,
    rows: Option<u64>,
    columns: &[String],
    notes: &[String],
    mut output: File,
) -> anyhow::Result<()> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let told = json!({"success": true, "rows": rows, "columns": columns, "notes": notes});
    if let Some(tokens_max) = max_tokens {
        let mut text = String::new();
        output.read_to_string(&mut text)?;
        let shaped = shape_json(&text, Strategy::Auto, tokens_max, &tokens::count);
        let mut told = told;
        told["is_whole"] = json!(shaped.is_whole);
        told["left_out"] = json!(shaped.left_out);
        told["result"] = shaped.value;
        writeln!(stdout, "{told}")?;
    } else {
        let told = told.to_string();
        write!(stdout, "{},\"result\":", told.trim_end_matches('}'))?;
        if io::stdout().is_terminal() {
            let mut text = String::new();
            output.read_to_string(&mut text)?;
            write!(stdout, "{}", visible_json(&text))?;
        } else {
            io::copy(&mut output, &mut stdout)?;
        }
        writeln!(stdout, "}}")?;
    }
    stdout.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_a_list_one_step_or_a_whole_request() {
        let list = r#"{"steps":[{"limit":3}]}"#;
        assert_eq!(request_of(r#"[{"limit": 3}]"#, None).unwrap(), list);
        assert_eq!(request_of(r#"{"limit": 3}"#, None).unwrap(), list);
        assert_eq!(request_of(list, None).unwrap(), list);
        let inside = r#"{"steps":[{"limit":3}],"data_field":"a.b"}"#;
        assert_eq!(request_of(r#"{"limit": 3}"#, Some("a.b")).unwrap(), inside);
        let other = r#"{"analysis_type":"describe","parameters":{}}"#;
        assert_eq!(request_of(other, None).unwrap(), other);
        let refused = request_of("limit 3", None).unwrap_err().to_string();
        assert!(refused.contains("valid JSON") && refused.contains("describe"), "{refused}");
    }
}
