//! How data is written: the names of formats.

use gristmill_domain::{Code, one_line};
use gristmill_protocol::DataFormat;

use super::AnalysisFailure;

/// Every name, the one that we use first.
const NAMES: [(&str, DataFormat); 8] = [
    ("json", DataFormat::Json),
    ("json_lines", DataFormat::JsonLines),
    ("jsonl", DataFormat::JsonLines),
    ("jsonlines", DataFormat::JsonLines),
    ("ndjson", DataFormat::JsonLines),
    ("csv", DataFormat::Csv),
    ("tsv", DataFormat::Csv),
    ("parquet", DataFormat::Parquet),
];

/// Longer lines are no paths that anybody writes.
const PATH_BYTES_MAX: usize = 1_024;

/// The format that a file's name tells, if it does.
pub fn format_of_path(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    NAMES.iter().find(|(name, _)| *name == ending).map(|(name, _)| *name)
}

/// Whether a text says where data is, instead of being data: one line that begins as a path does, or ends
/// as a file of data. As CSV it would be a header without rows.
pub fn is_path(text: &str) -> bool {
    let text = text.trim();
    text.len() <= PATH_BYTES_MAX
        && !text.contains(['\n', '\r'])
        && (text.starts_with('/') || format_of_path(text).is_some())
}

/// The format of a name as callers write it.
pub(super) fn read(name: &str) -> Result<DataFormat, AnalysisFailure> {
    let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, format)| *format).ok_or_else(|| {
        AnalysisFailure::new(
            Code::BadRequest,
            format!("unknown format `{}`; nothing ran", one_line(name, 40)),
            "use json, json_lines, csv or parquet, or leave `format` out",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_its_name_or_by_a_files_ending() {
        assert_eq!(read("JSONL"), Ok(DataFormat::JsonLines));
        assert_eq!(format_of_path("data/Sales.CSV"), Some("csv"));
        assert_eq!(format_of_path("a.b/c"), None);
        assert_eq!(format_of_path("notes.txt"), None);
        assert!(is_path("/etc/passwd") && is_path("sales.csv") && is_path(" data/a.json\n"));
        assert!(!is_path("a,b") && !is_path("/a,b\n1,2") && !is_path("{\"a\": \"b.csv\"}") && !is_path(""));
        let failure = read("xlsx\u{202e}").unwrap_err();
        assert_eq!(failure.code, Code::BadRequest);
        assert!(!failure.message.contains('\u{202e}'), "{failure}");
    }
}
