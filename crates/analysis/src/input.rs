//! What an analysis reads.

use std::fs::File;

/// How a table is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON text: a list of objects, a list of values, or one object.
    Json,
    /// One JSON object on each line.
    JsonLines,
    /// Text with a line of column names and separators between fields.
    Csv,
    /// An Apache Parquet file.
    Parquet,
}

impl Format {
    /// Every format, in the order in which errors list them.
    pub const ALL: [Format; 4] = [Format::Json, Format::JsonLines, Format::Csv, Format::Parquet];

    /// The name that callers write.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::JsonLines => "jsonl",
            Format::Csv => "csv",
            Format::Parquet => "parquet",
        }
    }
}

/// A name that is none of a format's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {name:?}; use json, jsonl, csv or parquet, or leave it out")]
pub struct UnknownFormat {
    /// The name as it was written.
    pub name: String,
}

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        match name.to_ascii_lowercase().as_str() {
            "json" => Ok(Format::Json),
            "jsonl" | "ndjson" | "json_lines" | "jsonlines" => Ok(Format::JsonLines),
            "csv" | "tsv" => Ok(Format::Csv),
            "parquet" => Ok(Format::Parquet),
            _ => Err(UnknownFormat { name: name.to_owned() }),
        }
    }
}

/// Where the bytes of an input are.
#[derive(Debug)]
pub enum Source {
    /// The whole content, in memory.
    Bytes(Vec<u8>),
    /// In an open file, read from its beginning.
    File(File),
}

/// One table that goes in. The first input is the data; further ones are for joins and references, by name.
#[derive(Debug)]
pub struct Input {
    /// The name that steps call it by.
    pub name: String,
    /// How it is written down; `None` is told by the content.
    pub format: Option<Format>,
    /// Where its content is.
    pub source: Source,
}
