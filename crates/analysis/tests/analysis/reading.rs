//! What each format becomes.

use gristmill_analysis::Format;
use serde_json::{Value, json};

use super::{input, run_all};

#[track_caller]
fn reads(format: Option<Format>, content: &[u8], expected: Value, notes: &[&str]) {
    let (found, analyzed) = run_all(&json!({"steps": []}), vec![input("data", format, content)]).unwrap();
    assert_eq!(found, expected);
    assert_eq!(analyzed.notes, notes);
}

#[test]
fn the_format_is_told_by_the_content() {
    let rows = json!([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]);
    reads(None, br#"[{"a":1,"b":"x"},{"a":2,"b":"y"}]"#, rows.clone(), &[]);
    reads(None, b"{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n", rows.clone(), &[]);
    reads(None, b"a,b\n1,x\n2,y\n", rows.clone(), &[]);
    reads(None, b"\xef\xbb\xbfa;b\r\n1;x\r\n2;y", rows, &["fields are separated by ';'"]);
    reads(None, include_bytes!("../fixtures/zstd.parquet"), json!([{"a": 1}, {"a": 2}]), &[]);
}

#[test]
fn one_object_is_one_row_and_values_are_a_column() {
    reads(None, br#"{"a": {"b": 1}}"#, json!([{"a": {"b": 1}}]), &[]);
    reads(
        Some(Format::Json),
        b"[1, 2.5, null]",
        json!([{"value": 1.0}, {"value": 2.5}, {"value": null}]),
        &[],
    );
    reads(Some(Format::JsonLines), b"1\n2", json!([{"value": 1}, {"value": 2}]), &[]);
    let note = "the data is one object, read as one row; to use a list inside it, set data_field: rows";
    reads(None, br#"{"rows": [1], "n": 1}"#, json!([{"rows": [1], "n": 1}]), &[note]);
}

#[test]
fn keys_that_come_and_go_are_columns_with_missing_values() {
    let expected = json!([{"a": 1, "b": null, "c": {"d": null}}, {"a": null, "b": "x", "c": {"d": true}}]);
    let (found, _) =
        run_all(&json!({"steps": []}), vec![input("data", None, br#"[{"a":1},{"b":"x","c":{"d":true}}]"#)])
            .unwrap();
    // An object of which nothing is there is null.
    let mut expected = expected;
    expected[0]["c"] = Value::Null;
    assert_eq!(found, expected);
}

#[test]
fn csv_columns_hold_what_all_of_their_rows_hold() {
    let mut text = "n,mixed,late\n".to_owned();
    for row in 0..20_000 {
        text.push_str(&format!("{row},{row},{row}\n"));
    }
    text.push_str("20000,x,0.5\n");
    let steps = json!([{"aggregate": {"aggregations": {"n": "max", "mixed": "max", "late": "sum"}}}]);
    let (found, _) = run_all(&json!({ "steps": steps }), vec![input("data", None, text.as_bytes())]).unwrap();
    assert_eq!(found, json!([{"n_max": 20000, "mixed_max": "x", "late_sum": 199_990_000.5}]));
}

#[test]
fn csv_fields_may_be_quoted_empty_and_named_twice() {
    let csv = b"a,b,a\n\"x, \"\"y\"\"\",,1\n\"line\nbreak\",2,\n";
    let note = "the column \"a\" appears more than once; one of them is named \"a_2\"";
    reads(
        None,
        csv,
        json!([{"a": "x, \"y\"", "b": null, "a_2": 1}, {"a": "line\nbreak", "b": 2, "a_2": null}]),
        &[note],
    );
}

#[test]
fn a_quoted_empty_field_is_an_empty_text_and_an_unquoted_one_is_missing() {
    reads(None, b"a,b\n\"\",1\n,2\n", json!([{"a": "", "b": 1}, {"a": null, "b": 2}]), &[]);
}

#[test]
fn csv_lines_that_end_early_and_empty_lines_have_missing_values() {
    let rows = json!([{"a": 1, "b": null}, {"a": null, "b": null}, {"a": 3, "b": 4}]);
    reads(None, b"\n\r\na,b\r\n1\r\n\r\n3,4,", rows, &[]);
}

#[test]
fn csv_columns_are_numbers_only_where_every_field_is_one() {
    let csv = b"whole,fraction,flag,sign,zeros,big,quoted\n1,2,true,+5,007,1,\"1\"\n-3,.5,False,6,8,99999999999999999999,2.5\n";
    let note = "field \"big\" has integers too large for 64 bits; it's read as text, so == and in are exact; cast it to number to calculate (about 16 digits)";
    reads(
        None,
        csv,
        json!([
            {"whole": 1, "fraction": 2.0, "flag": true, "sign": "+5", "zeros": 7, "big": "1", "quoted": 1.0},
            {"whole": -3, "fraction": 0.5, "flag": false, "sign": "6", "zeros": 8, "big": "99999999999999999999", "quoted": 2.5}
        ]),
        &[note],
    );
}

#[test]
fn csv_that_does_not_hold_together_is_refused_with_its_line() {
    let said = |csv: &[u8]| {
        let refused = run_all(&json!({"steps": []}), vec![input("data", Some(Format::Csv), csv)]);
        refused.expect_err("it cannot be read").message
    };
    let more = "can't read the CSV data: line 3 has more fields than the first line";
    assert_eq!(said(b"a,b\n\"x\ny\",3,4\n"), more.replace("line 3", "line 2"));
    assert_eq!(said(b"a,b\n1,2\n1,2,3\n"), more);
    let open = "can't read the CSV data: a quoted field in line 2 isn't closed";
    assert_eq!(said(b"a,b\n\"1,2\n3,4\n"), open);
    assert_eq!(said(b"a\n\"1\"2\n"), open);
}

#[test]
fn decimal_commas_stay_text_and_a_note_tells_how_to_calculate() {
    let csv = b"name;price\na;1,5\nb;-2\nc;10,25\n";
    let (found, analyzed) = run_all(
        &json!({"steps": [{"compute": {"price": "number(replace(`price`, ',', '.'))"}}, {"aggregate": {"aggregations": {"price": "sum"}}}]}),
        vec![input("data", None, csv)],
    )
    .unwrap();
    assert_eq!(found, json!([{"price_sum": 9.75}]));
    assert_eq!(
        analyzed.notes,
        [
            "fields are separated by ';'",
            "field \"price\" has numbers with a decimal comma, such as \"1,5\", so it's read as text; cast can't convert them; to calculate: {\"compute\": {\"price\": \"number(replace(`price`, ',', '.'))\"}}"
        ]
    );
}

#[test]
fn the_types_of_parquet_become_plain_ones() {
    let expected = json!([
        {"tiny": 1, "unsigned": 1, "huge": "18446744073709551615", "single": 0.5, "money": 10.1, "day": "2026-07-28",
         "moment": "2026-07-28T09:30:00", "clock": "09:30:00", "tags": ["a", "b"], "maker": {"name": "Ada", "age": 36},
         "parts": [{"n": 1}], "kind": "x", "flag": true},
        {"tiny": null, "unsigned": 2, "huge": "2", "single": null, "money": 0.2, "day": null, "moment": null, "clock": null,
         "tags": [], "maker": {"name": "Bob", "age": null}, "parts": null, "kind": "y", "flag": false},
        {"tiny": -3, "unsigned": 3, "huge": null, "single": 2.0, "money": null, "day": "1969-12-31",
         "moment": "2026-01-01T00:00:00", "clock": "23:59:59", "tags": null, "maker": null, "parts": [], "kind": "x", "flag": null}
    ]);
    let notes = [
        "field \"huge\" has integers too large for 64 bits; it's read as text",
        "field \"money\" has decimals; they're read as 64-bit floats (about 16 digits)",
    ];
    reads(None, include_bytes!("../fixtures/types.parquet"), expected, &notes);
}

#[test]
fn parquet_is_read_with_every_codec() {
    let row: serde_json::Map<String, Value> = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]
        .into_iter()
        .map(|codec| (codec.to_owned(), "same text".into()))
        .collect();
    reads(None, include_bytes!("../fixtures/codecs.parquet"), vec![Value::Object(row); 40].into(), &[]);
}

#[test]
fn lists_maps_and_durations_of_parquet_become_json_and_seconds() {
    let expected = json!([
        {"items": [{"k": 1, "m": "u"}, {"k": 2, "m": null}], "grid": [[1], [2, 3]],
         "prices": [{"key": "a", "value": 1.5}, {"key": "b", "value": null}],
         "order": {"tags": ["x", "y"], "took": 1.5}, "waited": 2.0},
        {"items": [], "grid": [[]], "prices": null, "order": null, "waited": null},
        {"items": null, "grid": [null, [4]], "prices": [], "order": {"tags": [], "took": null}, "waited": -1.0}
    ]);
    let note = |field: &str| format!("field {field:?} has durations; they're read as seconds");
    let notes = [note("order.took"), note("waited")];
    reads(
        None,
        include_bytes!("../fixtures/nested.parquet"),
        expected,
        &notes.each_ref().map(String::as_str),
    );
}

#[test]
fn a_file_is_read_from_its_beginning() {
    use std::io::{Seek, SeekFrom, Write};
    let path = std::env::temp_dir().join(format!("gristmill-analysis-{}.csv", std::process::id()));
    let mut file =
        std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file.write_all(b"a\n1\n").unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    let input = gristmill_analysis::Input {
        name: "data".to_owned(),
        format: None,
        source: gristmill_analysis::Source::File(file),
    };
    assert_eq!(run_all(&json!({"steps": []}), vec![input]).unwrap().0, json!([{"a": 1}]));
}
