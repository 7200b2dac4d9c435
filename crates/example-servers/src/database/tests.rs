//! What is there, what can be asked, and what cannot be done to it.

use super::*;

fn call(server: &Database, tool: &str, arguments: Value) -> Result<Value, String> {
    match server.call(tool, arguments.as_object().unwrap_or(&Map::new()))? {
        Answer::Structured(value) => Ok(value),
        Answer::Text(_) | Answer::Image { .. } => Err("not structured".to_owned()),
    }
}

fn query(server: &Database, sql: &str) -> Result<Value, String> {
    call(server, "query", json!({"sql": sql})).map(|answer| answer["rows"].clone())
}

#[test]
fn the_tables_have_the_rows_that_they_promise() {
    let server = Database::new(None);
    let listed = call(&server, "list_tables", json!({})).expect("tables");
    let counts: Vec<(&str, u64)> = listed["tables"]
        .as_array()
        .expect("tables")
        .iter()
        .map(|table| (table["name"].as_str().unwrap_or_default(), table["rows"].as_u64().unwrap_or_default()))
        .collect();
    assert_eq!(
        counts,
        [
            ("customers", 5_000),
            ("products", 400),
            ("orders", 40_000),
            ("order_items", 100_053),
            ("tickets", 10_000)
        ]
    );
    for table in contents::TABLES {
        let described = call(&server, "describe_table", json!({"table": table})).expect("columns");
        for column in described["columns"].as_array().expect("columns") {
            assert_ne!(column["description"], "", "{table}.{}", column["name"]);
        }
    }
    assert_eq!(
        query(
            &server,
            "SELECT count(*) AS n FROM orders o WHERE total_cents <> \
                        (SELECT sum(quantity * unit_cents) FROM order_items WHERE order_id = o.id)"
        ),
        Ok(json!([{"n": 0}]))
    );
}

#[test]
fn a_query_gives_objects_and_says_when_there_is_more() {
    let server = Database::new(None);
    assert_eq!(
        call(
            &server,
            "query",
            json!({
                "sql": "SELECT id, id, ? AS said, NULL AS empty FROM products WHERE id > ? ORDER BY id",
                "params": ["hello", 10], "limit": 2,
            })
        ),
        Ok(json!({
            "columns": ["id", "id_2", "said", "empty"], "row_count": 2, "truncated": true,
            "rows": [
                {"id": 11, "id_2": 11, "said": "hello", "empty": null},
                {"id": 12, "id_2": 12, "said": "hello", "empty": null},
            ],
        }))
    );
    let all = call(&server, "query", json!({"sql": "SELECT * FROM tickets", "limit": 10_000})).expect("rows");
    assert_eq!((&all["row_count"], &all["truncated"]), (&json!(10_000), &json!(false)));
}

#[test]
fn rows_are_exported_in_pages() {
    let server = Database::new(None);
    let page = |offset: u64| {
        let page =
            call(&server, "export_rows", json!({"table": "order_items", "offset": offset, "limit": 10_000}));
        page.map(|page| (page["rows"].as_array().map(Vec::len), page["next_offset"].clone()))
    };
    assert_eq!(page(0), Ok((Some(10_000), json!(10_000))));
    assert_eq!(page(90_000), Ok((Some(10_000), json!(100_000))));
    assert_eq!(page(100_000), Ok((Some(53), json!(null))));
    assert_eq!(page(200_000), Ok((Some(0), json!(null))));
    assert!(
        call(&server, "export_rows", json!({"table": "ticket"}))
            .is_err_and(|error| error.starts_with("no table `ticket`; did you mean `tickets`?"))
    );
}

#[test]
fn nothing_can_be_written_attached_or_set() {
    let folder = tempfile::tempdir().expect("a folder");
    for server in [Database::new(None), Database::new(Some(folder.path().to_owned()))] {
        for sql in [
            "DELETE FROM tickets",
            "UPDATE tickets SET status = 'open'",
            "INSERT INTO products VALUES (0, '', '', '', 0, 0)",
            "DROP TABLE tickets",
            "CREATE TABLE x (a)",
            "CREATE TEMP TABLE x AS SELECT 1",
            "ATTACH DATABASE '/tmp/gristmill-never.sqlite' AS other",
            "VACUUM INTO '/tmp/gristmill-never.sqlite'",
            "PRAGMA query_only = 0",
            "PRAGMA writable_schema = 1",
            "PRAGMA journal_mode = WAL",
            "BEGIN",
            "SELECT load_extension('x')",
            "REINDEX",
            "ANALYZE",
            "WITH x AS (SELECT 1) DELETE FROM tickets",
            "SELECT 1; DELETE FROM tickets",
            "",
            "-- nothing",
        ] {
            assert!(call(&server, "query", json!({"sql": sql})).is_err(), "{sql}");
        }
        assert_eq!(query(&server, "SELECT count(*) AS n FROM tickets"), Ok(json!([{"n": 10_000}])));
        assert!(query(&server, "PRAGMA table_info(tickets)").is_ok());
    }
    assert!(!std::path::Path::new("/tmp/gristmill-never.sqlite").exists());
}

#[test]
fn errors_say_what_to_do() {
    let server = Database::new(None);
    let check = |arguments: Value, expected: &str| {
        let error = call(&server, "query", arguments).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    };
    check(json!({"sql": "DELETE FROM tickets"}), "the database is read-only");
    check(json!({"sql": "SELECT nme FROM customers"}), "no such column: nme");
    check(json!({"sql": "SELECT 1; SELECT 2"}), "one statement at a time");
    check(json!({"sql": "SELECT ?"}), "1 question marks, but 0 params");
    check(json!({"sql": "SELECT ?", "params": [[1]]}), "`params[0]` must be a text");
    check(json!({"sql": "SELECT 1", "limit": 10_001}), "`limit` must be a whole number from 1 to 10000");
    check(json!({"sql": "SELECT zeroblob(100000000)"}), "too long");
}

#[test]
fn an_endless_query_is_stopped_and_the_next_one_works() {
    let server = Database::new(None);
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT sum(x) FROM n";
    assert!(
        query(&server, endless).is_err_and(|error| error.starts_with("the query computed for 5 seconds"))
    );
    assert_eq!(query(&server, "SELECT 1 AS one"), Ok(json!([{"one": 1}])));
}

#[test]
fn a_folder_keeps_the_database_and_both_kinds_hold_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let sum = "SELECT sum(total_cents) AS cents, min(placed_on) AS first, max(placed_on) AS last FROM orders";
    let in_memory = query(&Database::new(None), sum);
    let made = query(&Database::new(Some(folder.path().to_owned())), sum);
    let opened_again = query(&Database::new(Some(folder.path().to_owned())), sum);
    assert!(in_memory.is_ok());
    assert_eq!(made, in_memory);
    assert_eq!(opened_again, in_memory);
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["shop-v1.sqlite"]);
}
