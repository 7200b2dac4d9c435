//! Tables that an analysis reads. In the product each is read in a process of its own that is thrown away;
//! here a crash is a finding all the same, but for Parquet, whose reader is not ours and may refuse by a panic.

use gristmill_analysis::{Analyzed, Format, Input, Problem, Source, analyze};
use serde_json::Value;

use crate::target::{Reached, Target, about, words};

pub const CSV: Target = Target {
    name: "csv",
    promise: "a CSV text is refused in words, or a table whose rows and columns are as many as it says, which reads back the same",
    run: run_csv,
    dictionary: &[
        b"\"\"",
        b"\",\"",
        b"\r\n",
        b"\n",
        b";",
        b"\t",
        b"\"",
        b"2026-02-30",
        b"2026-11-16T10:00:00Z",
        b"1,5",
        b"1e309",
        b"NaN",
        b"-0",
        b"null",
        b"true",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
    ],
    bytes_max: 2048,
};

pub const JSON: Target = Target {
    name: "json_rows",
    promise: "the same for JSON and JSON Lines",
    run: run_json,
    dictionary: &[
        b"{\"a\":",
        b"[{\"a\":1}",
        b"[[",
        b"\n{",
        b"null",
        b"1e400",
        b"-0.0",
        b"\\ud800",
        b"\"2026-11-16\"",
        b"\"\":",
        b"{\"a\":{\"b\":",
        b"18446744073709551616",
        b"$serde_json::private::Number",
    ],
    bytes_max: 2048,
};

pub const PARQUET: Target = Target {
    name: "parquet",
    promise: "a Parquet file is refused in words, or a table whose rows and columns are as many as it says",
    run: run_parquet,
    dictionary: &[b"PAR1", b"\x15\x00", b"\x15\x02", b"\x19\x1c", b"\x26\x08", b"schema"],
    bytes_max: 8192,
};

fn run_csv(bytes: &[u8]) -> Reached {
    read(bytes, Format::Csv)
}

fn run_json(bytes: &[u8]) -> Reached {
    Reached::of((read(bytes, Format::Json), read(bytes, Format::JsonLines)))
}

fn run_parquet(bytes: &[u8]) -> Reached {
    read(bytes, Format::Parquet)
}

fn read(bytes: &[u8], format: Format) -> Reached {
    let (analyzed, text) = match table(bytes, format) {
        Ok(read) => read,
        Err(problem) => {
            let is_ours = format != Format::Parquet;
            assert!(!problem.message.is_empty());
            assert!(!(is_ours && problem.message.contains("engine failed")), "{problem:?}");
            return Reached::of((0, words(&problem.message)));
        }
    };
    check_table(&analyzed, &text);
    // A list without rows has no columns, and what was left out of the first reading stays out.
    if format != Format::Parquet && analyzed.rows != Some(0) {
        let (again, same) = table(&text, Format::Json).expect("what was written can be read");
        assert_eq!(again.rows, analyzed.rows, "as many rows as before");
        // In any order of the columns: one of nulls and objects comes where its first value does.
        assert_eq!(parsed(&same), parsed(&text), "it reads back the same");
    }
    Reached::of((
        1,
        about(text.len()),
        analyzed.columns.len().min(6),
        analyzed.notes.iter().map(|note| words(note)).collect::<Vec<_>>(),
    ))
}

/// The rows as JSON, without any step.
fn table(bytes: &[u8], format: Format) -> Result<(Analyzed, Vec<u8>), Problem> {
    let input = Input { name: "data".into(), format: Some(format), source: Source::Bytes(bytes.to_vec()) };
    let mut output = Vec::new();
    let analyzed = analyze(r#"{"steps":[]}"#, vec![input], &mut output)?;
    Ok((analyzed, output))
}

fn parsed(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("the output is JSON")
}

fn check_table(analyzed: &Analyzed, text: &[u8]) {
    let written = parsed(text);
    let rows = written.as_array().expect("a table is a list");
    assert_eq!(Some(rows.len() as u64), analyzed.rows, "as many rows as it says");
    for row in rows {
        let row = row.as_object().expect("a row is an object");
        for key in row.keys() {
            // Nested columns become objects again.
            let is_named = |column: &String| column == key || column.starts_with(&format!("{key}."));
            assert!(analyzed.columns.iter().any(is_named), "{key:?} is none of {:?}", analyzed.columns);
        }
    }
}
