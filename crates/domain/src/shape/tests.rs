use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use serde_json::json;

use super::Strategy;
use super::*;

/// Words, digits in threes and every other character are a token each: not additive, as real ones.
fn count(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = (' ', 0);
    for c in text.chars() {
        let (class, longest) = match c {
            'a'..='z' | 'A'..='Z' => ('a', 7),
            '0'..='9' => ('0', 3),
            ' ' => (' ', 1),
            _ => ('.', 1),
        };
        let goes_on = run.0 == class && run.1 < longest;
        run = if goes_on { (class, run.1 + 1) } else { (class, 1) };
        tokens += usize::from(!goes_on);
    }
    tokens
}

fn shape(json: &str, strategy: Strategy, tokens_max: usize) -> Shaped {
    let shaped = shape_json(json, strategy, tokens_max, &count);
    check(&shaped, tokens_max);
    assert_eq!(shape_json(json, strategy, tokens_max, &count), shaped, "deterministic");
    shaped
}

/// What holds of everything that is shaped.
fn check(shaped: &Shaped, tokens_max: usize) {
    let json = shaped.value.to_string();
    assert!(serde_json::from_str::<Value>(&json).is_ok(), "{json}");
    let in_value = if shaped.text.is_empty() && shaped.value.is_null() { 0 } else { count(&json) };
    assert_eq!(shaped.tokens, in_value.max(count(&shaped.text)));
    assert!(shaped.tokens <= tokens_max, "{} > {tokens_max}: {}", shaped.tokens, shaped.text);
    assert_eq!(shaped.is_whole, shaped.left_out.is_empty());
    match &shaped.value {
        Value::String(text) => assert_eq!(text, &shaped.text),
        Value::Null if shaped.text.is_empty() => {}
        other => assert_eq!(other.to_string(), shaped.text),
    }
}

fn orders(count: usize) -> String {
    let rows: Vec<Value> = (0..count)
        .map(|number| {
            let mut row = json!({
                "id": number, "state": if number % 4 == 0 { "open" } else { "done" }, "amount": number as f64 / 2.0,
            });
            if number % 10 == 0 {
                row["note"] = json!("call back");
            }
            row
        })
        .collect();
    json!(rows).to_string()
}

#[test]
fn what_fits_is_left_alone() {
    let text = r#"{"b": 12345678901234567890123, "a": [1, 2.50, "x"]}"#;
    for strategy in Strategy::ALL {
        let shaped = shape(text, strategy, 100);
        assert!(shaped.is_whole);
        assert_eq!(shaped.text, r#"{"b":12345678901234567890123,"a":[1,2.50,"x"]}"#);
    }
    assert_eq!(shape("\"a\\nb\"", Strategy::Auto, 20).text, "a\nb");
}

#[test]
fn of_many_records_the_first_and_last_are_shown_with_their_fields() {
    let shaped = shape(&orders(10_000), Strategy::Auto, 300);
    let items = shaped.value.as_array().unwrap();
    assert_eq!(items.first().unwrap()["id"], json!(0));
    assert_eq!(items.last().unwrap()["id"], json!(9_999));
    let missing = 10_000 - (items.len() - 1);
    let mark = items.iter().find_map(Value::as_str).unwrap();
    let what = words::not_shown(missing, 10_000, "item");
    assert_eq!(
        mark,
        format!("… {what}; fields in 64 of them: id integer, state text, amount number, note? text …")
    );
    assert_eq!(shaped.left_out, [what]);
    assert!(shaped.tokens > 200, "the budget is used: {}", shaped.tokens);
}

#[test]
fn small_fields_stay_whole_beside_a_huge_one() {
    let text = format!(
        r#"{{"total": 10000, "data": {{"page": {{"number": 1, "of": 3}}, "rows": {}}}, "log": "{}", "ok": true}}"#,
        orders(10_000),
        "all is well\\n".repeat(5_000)
    );
    let shaped = shape(&text, Strategy::Auto, 400);
    let value = &shaped.value;
    assert_eq!((&value["total"], &value["ok"]), (&json!(10_000), &json!(true)));
    assert_eq!(value["data"]["page"], json!({"number": 1, "of": 3}));
    assert_eq!(value["data"]["rows"][0]["id"], json!(0));
    assert_eq!(value["log"], json!("all is well\n… the line above 4,999 times more …"));
    assert!(shaped.left_out.iter().any(|line| line.starts_with("data.rows: 9,9")), "{:?}", shaped.left_out);
    assert!(
        shaped.left_out.contains(&"log: 4,999 repeated lines folded".to_owned()),
        "{:?}",
        shaped.left_out
    );
}

#[test]
fn a_sample_comes_from_everywhere() {
    let shaped = shape(&orders(10_000), Strategy::Sample, 400);
    let items = shaped.value.as_array().unwrap();
    let mark = items.first().and_then(Value::as_str).unwrap();
    assert!(mark.contains("of 10,000 items not shown; these are spread evenly"), "{mark}");
    let ids: Vec<i64> = items.iter().filter_map(|item| item["id"].as_i64()).collect();
    assert!(ids.len() > 5 && ids.is_sorted(), "{ids:?}");
    assert!(ids.iter().any(|id| (4_000..6_000).contains(id)) && ids.last() > Some(&8_000), "{ids:?}");
}

#[test]
fn what_comes_at_every_second_place_is_seen() {
    let rows: Vec<Value> = (0..10_000)
        .map(|number| match number % 2 {
            0 => json!({ "i": number }),
            _ => json!({ "i": number, "odd": "x" }),
        })
        .collect();
    let text = json!(rows).to_string();
    let auto = shape(&text, Strategy::Auto, 150);
    assert!(auto.text.contains("fields in 64 of them: i integer, odd? text"), "{}", auto.text);
    let sample = shape(&text, Strategy::Sample, 400);
    let items: Vec<&Value> =
        sample.value.as_array().unwrap().iter().filter(|item| item.is_object()).collect();
    let odd = items.iter().filter(|item| item["odd"].is_string()).count();
    assert!(odd > 0 && odd < items.len(), "{}", sample.text);
}

#[test]
fn an_item_is_shown_with_something_of_it_or_not_at_all() {
    let wide: Vec<Value> = (0..3_000)
        .map(|number| {
            let members = (0..10).map(|at| (format!("column {at}"), json!(number * 10 + at)));
            Value::Object(members.collect())
        })
        .collect();
    let has_content = |item: &&Value| {
        item.as_object().is_some_and(|members| members.keys().any(|name| !name.starts_with('…')))
    };
    for text in [orders(3_000), json!(wide).to_string()] {
        for strategy in [Strategy::Auto, Strategy::Sample, Strategy::HeadTail] {
            for tokens_max in [60, 100, 150, 250] {
                let shaped = shape(&text, strategy, tokens_max);
                let Some(items) = shaped.value.as_array() else { continue };
                let real = items.iter().filter(has_content).count();
                assert_eq!(real + 1, items.len(), "one mark, and nothing that is empty: {}", shaped.text);
                let mark = words::not_shown(3_000 - real, 3_000, "item");
                assert!(shaped.text.contains(&mark), "{}", shaped.text);
            }
        }
    }
    let shaped = shape(&orders(3_000), Strategy::Auto, 150);
    assert!(
        shaped.text.starts_with(r#"[{"id":0,"state":"open","amount":0.0,"note":"call back"},"#),
        "{}",
        shaped.text
    );
    assert!(shaped.tokens > 100, "{}", shaped.text);
}

#[test]
fn a_schema_tells_types_optional_fields_and_examples() {
    let shaped = shape(&orders(10_000), Strategy::Schema, 200);
    assert_eq!(
        shaped.value,
        json!({
            "array of": "10,000 items",
            "each": {
                "id": "integer, such as 0",
                "state": "text, such as \"open\"",
                "amount": "number, such as 0.0",
                "note? (in 1,000 of 10,000)": "text, such as \"call back\"",
            },
        })
    );
}

#[test]
fn a_table_tells_what_is_in_the_columns() {
    let shaped = shape(&orders(10_000), Strategy::Table, 300);
    assert_eq!(
        shaped.value,
        json!({
            "rows": 10_000,
            "columns": {
                "id": {"type": "integer", "distinct": 10_000, "min": 0, "median": 4999.5, "max": 9999},
                "state": {
                    "type": "text", "distinct": 2, "min": "done", "max": "open", "top": {"done": 7500, "open": 2500},
                },
                "amount": {"type": "number", "distinct": 10_000, "min": 0.0, "median": 2499.75, "max": 4999.5},
                "note": {
                    "type": "text", "nulls": 9000, "distinct": 1, "min": "call back", "max": "call back",
                    "top": {"call back": 1000},
                },
            },
        })
    );
}

#[test]
fn a_table_with_little_room_has_all_columns_and_says_what_is_missing() {
    let shaped = shape(&orders(10_000), Strategy::Table, 180);
    let columns = shaped.value["columns"].as_object().unwrap();
    assert_eq!(columns.keys().collect::<Vec<_>>(), ["id", "state", "amount", "note"]);
    assert!(columns.values().all(|column| column["distinct"].is_number()), "{}", shaped.text);
    let missing = shaped.value["…"].as_str().unwrap();
    assert!(missing.starts_with("ranges or most frequent values of "), "{missing}");
    assert_eq!(shaped.left_out, ["10,000 items shown as a table", missing]);
    assert!(shaped.tokens > 130, "{}", shaped.text);
}

#[test]
fn a_table_of_very_many_rows_says_of_which_it_speaks() {
    let shaped = shape(&orders(100_001), Strategy::Table, 400);
    assert_eq!(shaped.value["measured"], json!("of the first 100,000 rows"));
    let schema = shape(&orders(100_001), Strategy::Schema, 400);
    assert_eq!(schema.value["array of"], json!("100,001 items, of which the first 100,000 were checked"));
}

#[test]
fn a_summary_tells_what_it_is_how_many_first_and_last() {
    let shaped = shape(&orders(10_000), Strategy::Summarize, 320);
    assert_eq!(shaped.value["what"], json!("array of 10,000 items"));
    let ids = |end: &str| -> Vec<&Value> {
        shaped.value[end].as_array().unwrap().iter().map(|item| &item["id"]).collect()
    };
    assert_eq!(ids("first"), [&json!(0), &json!(1), &json!(2)], "{}", shaped.text);
    assert_eq!(ids("last"), [&json!(9_997), &json!(9_998), &json!(9_999)]);
    assert_eq!(shaped.left_out, ["9,994 of 10,000 items not shown"]);
    // With little room one of each end, or words alone.
    let one = shape(&orders(10_000), Strategy::Summarize, 150);
    assert_eq!((&one.value["first"][0]["id"], &one.value["last"][0]["id"]), (&json!(0), &json!(9_999)));
}

#[test]
fn a_summary_of_an_object_shows_the_shape_of_its_members() {
    let object = format!(
        r#"{{"rows": {}, "page": {{"number": 1, "of": 3, "next": "https://example.com/orders?page=2"}}, "log": "{}", "name": "x"}}"#,
        orders(10_000),
        "all is well ".repeat(500)
    );
    let shaped = shape(&object, Strategy::Summarize, 400);
    let members = &shaped.value["members"];
    assert_eq!(members["rows"]["what"], json!("array of 10,000 items"), "{}", shaped.text);
    let ids = |end: &str| -> Vec<&Value> {
        members["rows"][end].as_array().unwrap().iter().map(|item| &item["id"]).collect()
    };
    assert_eq!(ids("first"), [&json!(0), &json!(1), &json!(2)], "{}", shaped.text);
    assert_eq!(ids("last"), [&json!(9_997), &json!(9_998), &json!(9_999)]);
    assert_eq!(members["page"], json!("object of 3 members: number, of, next"));
    assert_eq!((&members["log"], &members["name"]), (&json!("text of 6,000 characters"), &json!("x")));
    assert!(
        shaped.left_out.contains(&"rows: 9,994 of 10,000 items not shown".to_owned()),
        "{:?}",
        shaped.left_out
    );
    // Every member is named before any is shown.
    let small = shape(&object, Strategy::Summarize, 95);
    assert_eq!(small.value["members"]["rows"], json!("array of 10,000 items"), "{}", small.text);
    assert_eq!(small.value["members"]["name"], json!("x"));
}

#[test]
fn a_log_shows_its_levels_and_its_errors() {
    let mut log = String::new();
    for number in 0..3_000 {
        log.push_str(&format!("2026-01-01T00:00:{:02} INFO request {number} answered\n", number % 60));
        if number % 1_000 == 500 {
            log.push_str(&format!("2026-01-01T00:00:00 ERROR request {number} lost: no answer\n"));
        }
    }
    for strategy in [Strategy::Auto, Strategy::Text] {
        let shaped = shape(&log, strategy, 300);
        let lines: Vec<&str> = shaped.text.lines().collect();
        assert_eq!(lines.first(), Some(&"log of 3,003 lines: 3 error, 3,000 info"));
        assert!(lines.contains(&"2026-01-01T00:00:00 ERROR request 500 lost: no answer"), "{}", shaped.text);
        assert!(lines.contains(&"… 2 more like it …"), "{}", shaped.text);
        assert!(shaped.text.ends_with("INFO request 2999 answered"), "{}", shaped.text);
    }
}

#[test]
fn headings_of_a_document_are_kept() {
    let mut text = String::new();
    for chapter in 1..=12 {
        text.push_str(&format!("# Chapter {chapter}\n\n"));
        (0..80).for_each(|line| text.push_str(&format!("Sentence {line} of this chapter.\n")));
    }
    let shaped = shape(&text, Strategy::Auto, 500);
    for chapter in 1..=12 {
        assert!(shaped.text.contains(&format!("# Chapter {chapter}\n")), "{}", shaped.text);
    }
    assert!(shaped.text.contains(" lines not shown …"));
}

#[test]
fn headings_that_find_no_place_are_counted() {
    let mut text = String::new();
    for chapter in 1..=60 {
        text.push_str(&format!("## Chapter {chapter}\n\n"));
        (0..20).for_each(|line| text.push_str(&format!("Sentence {line} of this chapter.\n")));
    }
    let shaped = shape(&text, Strategy::Auto, 500);
    let shown = shaped.text.lines().filter(|line| line.starts_with("## ")).count();
    assert!(shown > 10, "{}", shaped.text);
    let missing = words::not_shown(60 - shown, 60, "heading");
    assert_eq!(shaped.text.lines().next(), Some(format!("… {missing} …").as_str()));
    assert!(shaped.left_out.contains(&missing), "{:?}", shaped.left_out);
}

#[test]
fn rows_of_csv_are_shown_whole_below_their_header() {
    let mut csv = String::from("id,name,note\n");
    for number in 0..5_000 {
        csv.push_str(&format!("{number},Customer {number},\"{}, and so on\"\n", "word ".repeat(10)));
    }
    let lines: Vec<&str> = csv.lines().collect();
    for strategy in [Strategy::Auto, Strategy::HeadTail, Strategy::Sample, Strategy::Table] {
        let shaped = shape_text(&csv, strategy, 400, &count);
        check(&shaped, 400);
        assert!(shaped.text.starts_with("id,name,note\n"), "{}", shaped.text);
        let is_whole = |line: &&str| lines.contains(line) || line.ends_with(" not shown …");
        assert!(shaped.text.lines().all(|line| is_whole(&line)), "{}", shaped.text);
        assert!(shaped.text.lines().count() > 3, "{}", shaped.text);
        let says_so =
            shaped.left_out.contains(&"`table` needs JSON; this is text, so lines are shown".to_owned());
        assert_eq!(says_so, strategy == Strategy::Table, "{:?}", shaped.left_out);
    }
    assert!(shape(&csv, Strategy::Auto, 400).text.contains("\n4999,Customer 4999,"));
    let table = shape(&csv, Strategy::Table, 400);
    assert_eq!((&table.value["rows"], &table.value["columns"]["id"]["max"]), (&json!(5_000), &json!(4_999)));
    assert_eq!(table.left_out.last().unwrap(), "CSV rows are read as records, empty cells as null");
}

#[test]
fn lines_of_json_are_an_array() {
    let array: Vec<Value> = serde_json::from_str(&orders(5_000)).unwrap();
    let lines: String = array.iter().map(|order| format!("{order}\n")).collect();
    for strategy in [Strategy::Auto, Strategy::Sample, Strategy::Schema, Strategy::Table, Strategy::Summarize]
    {
        let (of_lines, of_array) = (shape(&lines, strategy, 300), shape(&orders(5_000), strategy, 300));
        assert_eq!(of_lines.value, of_array.value);
        assert_eq!(of_lines.left_out.last().unwrap(), "JSON Lines are shown as an array");
    }
    let text = shape_text(&lines, Strategy::Auto, 300, &count);
    check(&text, 300);
    let is_whole = |line: &str| line.ends_with(" not shown …") || serde_json::from_str::<Value>(line).is_ok();
    assert!(text.value.is_string() && text.text.lines().all(is_whole), "{}", text.text);
    assert!(text.text.starts_with(r#"{"id":0,"#), "{}", text.text);
}

#[test]
fn the_beginning_and_the_end_of_one_long_line_are_shown() {
    let text = format!("begin {} end", "x".repeat(100_000));
    let shaped = shape_text(&text, Strategy::HeadTail, 100, &count);
    check(&shaped, 100);
    assert!(shaped.text.starts_with("begin ") && shaped.text.ends_with(" end"), "{}", shaped.text);
    assert!(shaped.text.contains(" of 100,010 characters not shown"), "{}", shaped.text);
    let first = shape_text(&text, Strategy::Truncate, 100, &count);
    assert!(
        first.text.starts_with("begin ") && first.text.ends_with("characters not shown …"),
        "{}",
        first.text
    );
}

#[test]
fn odd_and_hostile_values_fit_any_budget() {
    let deep = 50_000;
    let values = [
        format!("{}1{}", "[".repeat(deep), "]".repeat(deep)),
        format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep)),
        format!("{}1{}", "[1,".repeat(deep), "]".repeat(deep)),
        "9".repeat(20_000),
        format!("[{}]", "9".repeat(20_000)),
        format!("{{\"{}\": 1, \"b\": 2}}", "k".repeat(20_000)),
        format!("{{{}}}", vec!["\"a\":1"; 5_000].join(",")),
        format!("[{}]", vec!["\"\\ud800\\u0000\\u001b\""; 3_000].join(",")),
        format!("[{}]", vec!["[]"; 20_000].join(", ")),
        format!("{{{}}}", (0..9_000).map(|n| format!("\"k{n}\":{{}}")).collect::<Vec<_>>().join(",")),
        format!("\"{}\"", "🌾\\n".repeat(9_000)),
        " ".repeat(50_000),
        "\n".repeat(50_000),
        String::new(),
        "[[[".repeat(9_000),
        format!("[1, 2{}", " ".repeat(9_000)),
        format!("{{\"…\": {}, \"……\": [{}]}}", "1".repeat(5_000), vec!["null"; 5_000].join(",")),
    ];
    for value in &values {
        for strategy in Strategy::ALL {
            for tokens_max in [0, 1, 2, 5, 20, 150, 1_000] {
                shape(value, strategy, tokens_max);
            }
        }
    }
}

#[test]
fn with_no_budget_there_is_nothing() {
    let shaped = shape("[1, 2, 3]", Strategy::Auto, 0);
    assert_eq!((shaped.value, shaped.text.as_str(), shaped.tokens), (Value::Null, "", 0));
    assert_eq!(shaped.left_out, ["array of 3 items not shown"]);
}

#[test]
fn values_and_their_texts_are_shaped_alike() {
    let text = orders(500);
    let value: Value = serde_json::from_str(&text).unwrap();
    for strategy in Strategy::ALL {
        let compact = value.to_string();
        assert_eq!(shape_value(&value, strategy, 200, &count), shape_json(&compact, strategy, 200, &count));
    }
}

#[test]
fn names_of_strategies_are_read_back() {
    for strategy in Strategy::ALL {
        assert_eq!(strategy.as_str().parse(), Ok(strategy));
    }
    assert_eq!("all".parse::<Strategy>(), Err(UnknownStrategy("all".to_owned())));
}

fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,30}".prop_map(Value::from),
        "[a-z \n]{0,600}".prop_map(Value::from),
        "(ERROR|INFO|# a|x){1,3}(\n(ERROR|INFO|# a|x)){0,80}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 200, 24, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..24).prop_map(Value::from),
            (inner.clone(), 2..400usize).prop_map(|(item, times)| Value::from(vec![item; times.min(40)])),
            proptest::collection::vec((".{0,12}", inner), 0..24)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_fits_any_budget(
        value in any_json(),
        tokens_max in prop_oneof![0..12usize, 12..600usize],
        strategy in proptest::sample::select(Strategy::ALL.to_vec()),
        is_laid_out in any::<bool>(),
    ) {
        let text = if is_laid_out { format!("{value:#}") } else { value.to_string() };
        let shaped = shape_json(&text, strategy, tokens_max, &count);
        check(&shaped, tokens_max);
        if shaped.is_whole {
            prop_assert_eq!(&shaped.value, &value);
        }
    }

    #[test]
    fn any_text_fits_any_budget(
        text in prop_oneof![".{0,400}", "[\\[\\]{}:,\"\\\\0-9a \n]{0,400}"],
        tokens_max in 0..60usize,
        strategy in proptest::sample::select(Strategy::ALL.to_vec()),
    ) {
        check(&shape_json(&text, strategy, tokens_max, &count), tokens_max);
        check(&shape_text(&text, strategy, tokens_max, &count), tokens_max);
    }
}
