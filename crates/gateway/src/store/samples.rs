//! Executions that never ran, for measurements of what reads very many of them.

use super::{Reply, Store};

/// Time over which they are spread.
const SPREAD_MS: i64 = 29 * 24 * 60 * 60 * 1_000;

/// Of number `i`: twenty letters that ids have.
const ID: &str = "replace(replace(printf('%020d', i), '0', 'a'), '1', 'b')";
const SESSION_ID: &str = "replace(replace(printf('%020d', i % 50), '0', 'a'), '1', 'b')";

/// The id of a sample.
pub fn sample_id(number: u32) -> String {
    format!("{number:020}").replace('0', "a").replace('1', "b")
}

impl Store {
    /// Makes all executions older by so many milliseconds, as if a gateway had rested for so long.
    pub fn make_older(&self, ms: i64) -> Reply<()> {
        self.change(move |transaction| {
            transaction.execute("UPDATE executions SET started_ms = started_ms - ?1", [ms])?;
            Ok(())
        })
    }

    /// So many executions of the last 29 days, with two calls each and what an audit has of them: every tenth failed,
    /// every fifth in one of fifty sessions. Into an empty database; its audit can't be verified afterwards.
    pub fn fill_with_samples(&self, count: u32) -> Reply<()> {
        let began = self.now_ms() - SPREAD_MS;
        let step = (SPREAD_MS / i64::from(count.max(1))).max(1);
        self.change(move |transaction| {
            transaction.execute_batch(&samples(count, began, step))?;
            Ok(())
        })
    }
}

fn samples(count: u32, began: i64, step: i64) -> String {
    let numbers =
        format!("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count})");
    let event = |kind: &str, more: &str| {
        format!(
            "json_object('at', strftime('%Y-%m-%dT%H:%M:%fZ', ({began} + i * {step}) / 1000.0, 'unixepoch'), \
             'kind', '{kind}', 'caller', 'local', 'execution', {ID}{more})"
        )
    };
    let (begun, ended) = (event("execution.begun", ""), event("execution.ended", ", 'outcome', 'ok'"));
    let called = event(
        "call",
        ", 'server', 'crm', 'tool', 'get_record', 'outcome', 'answered', 'decision', 'allow', 'rule', 'default'",
    );
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
         INSERT INTO programs SELECT 'p' || i, 'rows = [row for row in orders if row[\"total\"] > ' || i || ']' || char(10)
           || printf('%.*c', 600, '#') FROM n;
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
         INSERT INTO sessions (id, owner, name, created_ms, used_ms) SELECT {ID}, 'local',
           'work-' || i, {began}, {began} + i FROM n;
         {numbers} INSERT INTO executions (id, gateway, owner, session, language, level, program, started_ms, outcome,
           duration_ms, weight, context_bytes, calls, tokens_in, tokens_out, tokens_inside, error_code, stdout,
           stdout_bytes, result, result_bytes)
         SELECT {ID}, 'gateway' || (i % 4), 'local',
           iif(i % 5 = 0, {SESSION_ID}, ''), 'python', 'production', 'p' || (i % 100),
           {began} + i * {step}, iif(i % 10 = 0, 'failed', 'ok'), 5 + i % 400, 2000, 0, 2, 150, 80, 4000 + i % 900,
           iif(i % 10 = 0, 'GM-1102', NULL), printf('%.*c', 800, 'x'), 800, printf('\"%.*c\"', 700, 'y'), 702 FROM n;
         INSERT INTO execution_tokens SELECT number, 300, 400, 0 FROM executions;
         INSERT INTO execution_details SELECT number, NULL, '[{{\"name\":\"run\",\"began_ms\":1.0,\"time_ms\":5.0}}]'
           FROM executions;
         INSERT INTO execution_calls (execution, place, name, ok, sent, time_ms, argument_bytes, argument_tokens,
           answer_bytes, answer_tokens, began_ms)
         SELECT e.number, c.value, iif(c.value = 0, 'crm.get_record', 'mail.search'), e.number % 17 <> 0, 1,
           e.number % 90, 40, 12, 9000, 2000, 2.0 FROM executions e, json_each('[0,1]') c;
         {numbers}, e(event) AS MATERIALIZED (SELECT {begun} FROM n UNION ALL SELECT {called} FROM n
           UNION ALL SELECT {ended} FROM n)
         INSERT INTO audit_events (hash, event) SELECT zeroblob(32), event FROM e;
         INSERT INTO gateways SELECT 'gateway' || value, 1, 'stdio', '0', {began} FROM json_each('[0,1,2,3]');"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ExecutionQuery;

    #[tokio::test]
    async fn samples_are_found_as_executions_are() {
        let store = Store::in_memory().unwrap();
        store.fill_with_samples(100).await.unwrap();
        let page = store.execution_page(ExecutionQuery::default(), 3).await.unwrap();
        let ids: Vec<&str> = page.lines.iter().map(|line| line.id.as_str()).collect();
        assert_eq!(ids, [99, 98, 97].map(sample_id));
        assert!(crate::ids::ExecutionId::read(&sample_id(90_210)).is_some());
        let query = ExecutionQuery { session: Some("work-5".to_owned()), ..ExecutionQuery::default() };
        let page = store.execution_page(query, 10).await.unwrap();
        let names: Vec<Option<&str>> = page.lines.iter().map(|line| line.session_name.as_deref()).collect();
        assert_eq!(names, [Some("work-5"); 2]);
        let events = store.audit_of_execution(&sample_id(7), 10).await.unwrap();
        assert_eq!(events.len(), 3);
        assert_eq!(store.audit_size().await.unwrap().events, 300);
    }
}
