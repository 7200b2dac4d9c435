//! How the result of an analysis is written to a file: JSON, JSON Lines or CSV.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{anyhow, bail};
use clap::ValueEnum;
use serde_json::Value;
use serde_json::value::RawValue;

use super::table_text::member;

/// What `--output-format` takes; the end of a file's name says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// One list of rows
    Json,
    /// One row per line
    #[value(aliases = ["ndjson", "jsonlines", "json_lines"])]
    Jsonl,
    /// A header, and one row per line
    Csv,
}

const ENDINGS: [(&str, RowFormat); 4] = [
    ("json", RowFormat::Json),
    ("jsonl", RowFormat::Jsonl),
    ("ndjson", RowFormat::Jsonl),
    ("csv", RowFormat::Csv),
];

impl fmt::Display for RowFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RowFormat::Json => "json",
            RowFormat::Jsonl => "jsonl",
            RowFormat::Csv => "csv",
        })
    }
}

impl RowFormat {
    /// The format that a file's name says; JSON for a name without an ending.
    pub fn of_path(path: &Path) -> anyhow::Result<Self> {
        let Some(ending) = path.extension() else { return Ok(RowFormat::Json) };
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        if let Some((_, format)) = ENDINGS.iter().find(|(name, _)| *name == ending) {
            return Ok(*format);
        }
        bail!(
            "can't write .{ending} files\n\
             hint: end the name in .csv, .json, .jsonl or .ndjson, or pass --output-format csv|json|jsonl"
        )
    }

    /// Whether a report, which is one object and has no rows, can be written so.
    pub fn takes_reports(self) -> bool {
        match self {
            RowFormat::Json | RowFormat::Jsonl => true,
            RowFormat::Csv => false,
        }
    }

    /// Copies a result, which is JSON, in this format. `columns` are those of a table.
    pub fn write(
        self,
        columns: &[String],
        is_table: bool,
        result: &mut dyn Read,
        output: &mut dyn Write,
    ) -> anyhow::Result<()> {
        match (self, is_table) {
            (RowFormat::Json, _) => {
                io::copy(result, output)?;
            }
            (RowFormat::Jsonl, false) => {
                io::copy(result, output)?;
                output.write_all(b"\n")?;
            }
            (RowFormat::Csv, false) => return Err(anyhow!("a report has no rows")),
            (RowFormat::Jsonl, true) => {
                let text = text_of(result)?;
                for row in rows_of(&text)? {
                    output.write_all(row.get().as_bytes())?;
                    output.write_all(b"\n")?;
                }
            }
            (RowFormat::Csv, true) => write_csv(columns, &text_of(result)?, output)?,
        }
        output.flush()?;
        Ok(())
    }
}

fn text_of(result: &mut dyn Read) -> anyhow::Result<String> {
    let mut text = String::new();
    result.read_to_string(&mut text)?;
    Ok(text)
}

fn rows_of(text: &str) -> anyhow::Result<Vec<&RawValue>> {
    Ok(serde_json::from_str(text)?)
}

/// As RFC 4180 has it, with plain line ends. A missing value is an empty field, an empty text is `""`, a list
/// or an object is its JSON.
fn write_csv(columns: &[String], text: &str, output: &mut dyn Write) -> anyhow::Result<()> {
    let header: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    write_line(&header, output)?;
    for row in rows_of(text)? {
        let row: Value = serde_json::from_str(row.get())?;
        let fields: Vec<String> = columns.iter().map(|name| field_of(member(&row, name))).collect();
        write_line(&fields, output)?;
    }
    Ok(())
}

fn write_line(fields: &[String], output: &mut dyn Write) -> io::Result<()> {
    match fields {
        // An empty line would be no row.
        [only] if only.is_empty() => output.write_all(b"\"\"\n"),
        fields => writeln!(output, "{}", fields.join(",")),
    }
}

fn field_of(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => quoted(text),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
        Some(value @ (Value::Array(_) | Value::Object(_))) => quoted(&value.to_string()),
    }
}

fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty() && !text.contains(['"', ',', '\n', '\r']) && text.trim() == text;
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: RowFormat, columns: &[&str], json: &str) -> String {
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        let mut output = Vec::new();
        format.write(&columns, true, &mut json.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn rows_become_csv_that_reads_back() {
        let rows = r#"[{"a": "x, \"y\"", "b": {"c": 12345678901234567890}, "l": [1, "2"]},
                       {"a": "", "b": null, "l": null}, {"a": "two\nlines", "b": {"c": 0.10}, "l": []}]"#;
        assert_eq!(
            written(RowFormat::Csv, &["a", "b.c", "l"], rows),
            "a,b.c,l\n\"x, \"\"y\"\"\",12345678901234567890,\"[1,\"\"2\"\"]\"\n\"\",,\n\"two\nlines\",0.10,[]\n"
        );
        assert_eq!(written(RowFormat::Csv, &["a"], r#"[{"a": null}, {"a": 1}]"#), "a\n\"\"\n1\n");
        assert_eq!(
            written(RowFormat::Jsonl, &["a"], r#"[{"a": 1},{"a": 2.50}]"#),
            "{\"a\": 1}\n{\"a\": 2.50}\n"
        );
        assert_eq!(written(RowFormat::Json, &["a"], r#"[{"a": 1}]"#), r#"[{"a": 1}]"#);
    }

    #[test]
    fn the_end_of_a_name_says_the_format() {
        let check = |path: &str, expected| assert_eq!(RowFormat::of_path(Path::new(path)).unwrap(), expected);
        check("out.csv", RowFormat::Csv);
        check("a.b/Out.NDJSON", RowFormat::Jsonl);
        check("out.json", RowFormat::Json);
        check("out", RowFormat::Json);
        let refused = RowFormat::of_path(Path::new("out.parquet")).unwrap_err().to_string();
        for said in ["can't write .parquet files", ".csv, .json, .jsonl or .ndjson", "--output-format"] {
            assert!(refused.contains(said), "{refused}");
        }
    }
}
