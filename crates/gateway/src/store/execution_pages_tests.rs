use super::*;

/// So many executions, one each second; every tenth failed, every hundredth in a session, each with a call.
async fn filled(count: u32) -> Store {
    let store = Store::in_memory().unwrap();
    let filling = store.change(move |transaction| {
        transaction.execute_batch(&format!(
            "INSERT INTO programs VALUES ('p', 'print(1)'), ('q', 'rare_100%_name');
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count})
             INSERT INTO executions (id, gateway, owner, session, language, level, program, started_ms, outcome,
               duration_ms, weight, context_bytes, tokens_in, tokens_out, tokens_inside, error_code, stdout)
             SELECT printf('e%06d', i), 'g', 'local', iif(i % 100 = 0, 's', ''), 'python', 'production',
               iif(i = 7, 'q', 'p'), i * 1000, iif(i % 10 = 0, 'failed', 'ok'), i % 100, 1, 0, 10, 5, 40,
               iif(i % 10 = 0, 'GM-1301', NULL), printf('%.2000c', 'x') FROM n;
             INSERT INTO execution_tokens SELECT number, 5, 20, 0 FROM executions;
             INSERT INTO execution_calls (execution, place, name, ok, sent, time_ms, argument_bytes, argument_tokens,
               answer_bytes, answer_tokens) SELECT number, 0, iif(number % 2 = 0, 'crm.get', 'get_mail'), 1, 1, 2.0, 1, 1, 1, 1
             FROM executions;"
        ))?;
        Ok(())
    });
    filling.await.unwrap();
    store
}

fn ids(page: &ExecutionPage) -> Vec<&str> {
    page.lines.iter().map(|line| line.id.as_str()).collect()
}

#[tokio::test]
async fn pages_go_back_and_forth_without_a_gap() {
    let store = filled(7).await;
    let page = async |from| {
        let query = ExecutionQuery { from, ..ExecutionQuery::default() };
        store.execution_page(query, 3).await.unwrap()
    };
    let first = page(PageFrom::Newest).await;
    assert_eq!(ids(&first), ["e000006", "e000005", "e000004"]);
    assert_eq!((first.older.as_deref(), first.newer.as_deref()), (Some("e000004"), None));
    let second = page(PageFrom::Before("e000004".to_owned())).await;
    assert_eq!(ids(&second), ["e000003", "e000002", "e000001"]);
    assert_eq!((second.older.as_deref(), second.newer.as_deref()), (Some("e000001"), Some("e000003")));
    let last = page(PageFrom::Before("e000001".to_owned())).await;
    assert_eq!((ids(&last), last.older.as_deref()), (vec!["e000000"], None));
    let back = page(PageFrom::After("e000003".to_owned())).await;
    assert_eq!(ids(&back), ["e000006", "e000005", "e000004"]);
    assert_eq!((back.older.as_deref(), back.newer.as_deref()), (Some("e000004"), None));
}

#[tokio::test]
async fn filters_find_what_they_say_and_nothing_in_them_is_a_pattern() {
    let store = filled(300).await;
    let found = async |query: ExecutionQuery| store.execution_page(query, 1_000).await.unwrap().lines.len();
    let some = |text: &str| Some(text.to_owned());
    let any = ExecutionQuery::default;
    assert_eq!(found(any()).await, 300);
    assert_eq!(found(ExecutionQuery { outcome: Some(RecordedOutcome::Failed), ..any() }).await, 30);
    assert_eq!(found(ExecutionQuery { session: some("s"), ..any() }).await, 3);
    assert_eq!(found(ExecutionQuery { tool: some("crm.get"), ..any() }).await, 150);
    assert_eq!(found(ExecutionQuery { tool: some("get"), ..any() }).await, 150);
    assert_eq!(found(ExecutionQuery { text: some("100%_n"), ..any() }).await, 1);
    assert_eq!(found(ExecutionQuery { text: some("GM-13"), ..any() }).await, 30);
    assert_eq!(found(ExecutionQuery { text: some("%"), ..any() }).await, 1, "no pattern");
    assert_eq!(found(ExecutionQuery { since_ms: Some(290_000), ..any() }).await, 10);
}

#[tokio::test]
async fn figures_of_a_period_add_up_part_by_part() {
    let store = filled(100).await;
    let figures = store.period_figures(50_000, 100_000, 5).await.unwrap();
    // Each saved 40 inside and 20 of definitions, less 20 through us.
    assert_eq!((figures.executions, figures.failed, figures.saved), (50, 5, 2_000));
    assert_eq!((figures.through_us, figures.direct), (1_000, 3_000));
    assert_eq!((figures.p50_ms, figures.p95_ms), (Some(74.0), Some(97.0)));
    let part = PeriodPart { ends_ms: 60_000, executions: 10, failed: 1, saved: 400 };
    assert_eq!((figures.parts.len(), figures.parts[0]), (5, part));
    assert_eq!(Store::in_memory().unwrap().period_figures(0, 10, 3).await.unwrap().p50_ms, None);
}

#[tokio::test]
async fn a_search_that_finds_nothing_among_very_many_looks_at_a_part_and_says_where_it_goes_on() {
    let store = filled(12_000).await;
    let query = ExecutionQuery { text: Some("rare_100%".to_owned()), ..ExecutionQuery::default() };
    let page = store.execution_page(query.clone(), 50).await.unwrap();
    assert_eq!((page.lines.len(), page.older.as_deref()), (0, Some("e007000")));
    let from = PageFrom::Before("e005000".to_owned());
    let page = store.execution_page(ExecutionQuery { from, ..query }, 50).await.unwrap();
    assert_eq!((ids(&page), page.older.as_deref()), (vec!["e000007"], Some("e000000")));
    for query in [
        ExecutionQuery { outcome: Some(RecordedOutcome::Running), ..ExecutionQuery::default() },
        ExecutionQuery { session: Some("none".to_owned()), ..ExecutionQuery::default() },
    ] {
        assert_eq!(store.execution_page(query, 50).await.unwrap(), ExecutionPage::default());
    }
}

/// `gristmill bench dashboard` measures it; this holds what makes it quick.
#[tokio::test]
async fn figures_of_a_period_read_an_index_and_no_texts() {
    let store = filled(10).await;
    for sql in [COUNTED.to_owned(), compared_sql()] {
        let plan = store.run(move |connection| {
            let mut query = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let lines = query.query_map(params![0, 1], |row| row.get::<_, String>(3))?;
            Ok(lines.collect::<Result<Vec<_>, _>>()?.join("; "))
        });
        let plan = plan.await.unwrap();
        assert!(plan.contains("USING COVERING INDEX executions_by_time"), "{plan}");
    }
}
